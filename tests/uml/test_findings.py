"""The kept figures of a finding, chosen by the day's date, are what its runs give here, to the bit."""

import json
import random

import pytest
from support.lottery import DAY, KEPT, on_its_day

from wblab.cli import main
from wblab.kernels import find_kernel
from wblab.study.designs.audit.golden import SPEC, judge, read_golden, seen
from wblab.study.designs.finding import kept
from wblab.study.designs.finding.fill import plan
from wblab.study.designs.finding.finding import find, names, read

pytestmark = on_its_day("findings", KEPT)


def is_built(name: str) -> bool:
    """Whether all kernels of a finding's statements are available."""
    cells = plan(name, [point for point, _ in read(find(name)).tested()], 1).cells
    return all(find_kernel(cell.spec.kernel.build) for cell in cells)


def test_a_finding_of_the_day_is_repeated_to_the_bit(shared_lab, tmp_path, capsys):
    verdict = judge(read_golden(), seen(shared_lab.run(SPEC)))
    built = [name for name in names() if is_built(name)]
    name = random.Random(DAY.toordinal()).choice(built)
    assert main(["study", name, "--seeds", "1", "--exp", str(tmp_path), "--json"]) == 0
    finding, values = read(find(name)), kept.read(find(name))
    found = {one["text"]: one for one in json.loads(capsys.readouterr().out)["statements"]}
    assert found.keys() == {one.text for one in finding.statement}
    if verdict.excused:
        pytest.skip(f"no golden run for this machine: {verdict}")
    for one in finding.statement:
        value = finding.value[one.value]
        assert found[one.text]["values"] == [values[value.point()].values(value)[0]], f"{name}: {one.text}"
