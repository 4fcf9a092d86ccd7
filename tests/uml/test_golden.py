"""The base run gives what is noted of it; on a machine that differs, it is said in what."""

import pytest

from wblab.commands.golden import SPEC, inputs, judge, read_golden
from wblab.data.digest import digest


def test_the_base_run_is_the_golden_one(shared_lab):
    run = shared_lab.run(SPEC)
    verdict = judge(read_golden(), digest(run), inputs(run))
    if verdict.excused:
        pytest.skip(f"no golden run for this machine: {verdict}")
    assert verdict.same, f"{verdict}: if that was meant, 'make golden'"
    print(verdict)
