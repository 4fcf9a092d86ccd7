"""The base run equals its golden record; on a different machine, the differences are named."""

import pytest

from wblab.study.designs.audit.golden import SPEC, judge, read_golden, seen


def test_the_base_run_equals_the_golden_run(shared_lab):
    verdict = judge(read_golden(), seen(shared_lab.run(SPEC)))
    if verdict.excused:
        pytest.skip(f"no golden run for this machine: {verdict}")
    assert verdict.same, f"{verdict}: if that was meant, 'make golden'"
    print(verdict)
