"""What the lab keeps is what runs give here, to the bit: of three sets one a day, and of it what the date chooses."""

import json
import random

import pytest
from figures import Figure, figures, kernels, run
from support.lottery import DAY, KEPT, on_its_day, some

from wblab.claims.finding import kept
from wblab.claims.finding.fill import plan
from wblab.claims.finding.finding import find, names, read
from wblab.cli import main
from wblab.kernels import catalog, find_kernel
from wblab.study.designs.audit.expected import STANDARD, path_of
from wblab.study.designs.audit.golden import SPEC, judge, read_golden, seen


@pytest.fixture
def excuse(shared_lab):
    """Why nothing here can be the same to the bit as on the machine where figures were recorded; or nothing."""
    verdict = judge(read_golden(), seen(shared_lab.once(SPEC)))
    return f"no golden run for this machine: {verdict}" if verdict.excused else ""


@on_its_day("expected", KEPT)
@pytest.mark.parametrize("series", some([entry.name for entry in catalog.load().series], 1), indirect=True)
def test_a_series_gives_the_expected_figures(series, tmp_path, capsys):
    if not path_of(series).exists():
        pytest.skip(f"no expected figures of {series} are recorded")
    code = main(["repeat", "golden", "--series", series, "--exp", str(tmp_path), "--json"])
    printed = capsys.readouterr()
    assert code == 0, f"{printed.out}{printed.err}: if that was meant, 'make expected'"
    (found,) = json.loads(printed.out)["series"].values()
    assert [one["preset"] for one in found] == list(STANDARD)
    assert all(one["fits"] for one in found)


def is_built(figure: Figure) -> bool:
    """Whether the kernels of a figure's runs are available."""
    return all(find_kernel(name) for name in kernels(figure))


@on_its_day("figures", KEPT)
def test_three_figures_of_the_day_are_reproduced_exactly(excuse, tmp_path):
    if excuse:
        pytest.skip(excuse)
    comparable = [one for one in figures() if is_built(one)]
    chosen = random.Random(DAY.toordinal()).sample(comparable, 3)
    found = run(chosen, tmp_path)
    shown = {f"{one.page.name}, {one.name}": one.shown() for one in chosen}
    assert shown == {f"{one.page.name}, {one.name}": one.words(found) for one in chosen}, (
        "if that was meant: make figures"
    )
    print(f"repeated on {DAY}: {', '.join(shown)}")


def is_possible(name: str) -> bool:
    """Whether all kernels of a finding's statements are available."""
    cells = plan(name, [point for point, _ in read(find(name)).tested()], 1).cells
    return all(find_kernel(cell.spec.kernel.build) for cell in cells)


@on_its_day("findings", KEPT)
def test_a_finding_of_the_day_is_repeated_to_the_bit(excuse, tmp_path, capsys):
    name = random.Random(DAY.toordinal()).choice([one for one in names() if is_possible(one)])
    assert main(["study", name, "--seeds", "1", "--exp", str(tmp_path), "--json"]) == 0
    finding, values = read(find(name)), kept.read(find(name))
    found = {one["text"]: one for one in json.loads(capsys.readouterr().out)["statements"]}
    assert found.keys() == {one.text for one in finding.statement}
    if excuse:
        pytest.skip(excuse)
    for one in finding.statement:
        value = finding.value[one.value]
        assert found[one.text]["values"] == [values[value.point()].values(value)[0]], f"{name}: {one.text}"
