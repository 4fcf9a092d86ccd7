"""Three of the docs' figures, chosen by the day's date, are repeated to the last digit."""

import random

import pytest
from figures import Figure, figures, run
from support.lottery import DAY, KEPT, on_its_day

from wblab.kernels import find_kernel
from wblab.study.designs.audit.golden import SPEC, judge, read_golden, seen

pytestmark = on_its_day("figures", KEPT)


def is_built(figure: Figure) -> bool:
    """Whether the kernels of a figure's runs are available."""
    names = {dict(value.levels).get("kernel") for value in figure.values}
    return all(find_kernel(name) for name in names if name)


def test_three_figures_of_the_day_are_reproduced_exactly(shared_lab, tmp_path):
    verdict = judge(read_golden(), seen(shared_lab.run(SPEC)))
    if verdict.excused:
        pytest.skip(f"no golden run for this machine: {verdict}")
    chosen = random.Random(DAY.toordinal()).sample([one for one in figures() if is_built(one)], 3)
    found = run(chosen, tmp_path)
    shown = {f"{one.page.name}, {one.name}": one.shown() for one in chosen}
    assert shown == {f"{one.page.name}, {one.name}": one.words(found) for one in chosen}, (
        "if that was meant: make figures"
    )
    print(f"repeated on {DAY}: {', '.join(shown)}")
