"""Without the offender the pause disappears; if the offender stops too late, or another load is removed, it stays."""

from contextlib import ExitStack
from functools import cache

import pytest

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.study.designs.prove.change import StopLoad, read_remedy
from wblab.study.designs.prove.runs import proving
from wblab.study.designs.prove.trial import Trial, begin_ns, changed_spec, loads_start_ns

BOUND_NS = 300_000_000


@pytest.fixture(scope="module")
def trial(shared_lab, tmp_path_factory):
    """Yield a function that proves causes of the longest pause of mw1 in a preset; the preset is run once."""
    with ExitStack() as stack:

        @cache
        def of(preset):
            run = shared_lab.run(preset, "trace.lead=1s")
            pauses = explain(run, read_recorded(run), "mw1", BOUND_NS)
            place = tmp_path_factory.mktemp(preset) / "proof"
            make = stack.enter_context(proving(run, place, run.spec.kernel, lambda name: shared_lab.kernel))
            return Trial(run, max(pauses, key=lambda item: item.pause_ns), make, BOUND_NS)

        yield of


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_without_the_offender_the_pause_disappears(trial, preset):
    asked = trial(preset)
    found = asked.outcome(StopLoad("l1"), begin_ns(asked.run, "l1"))
    assert (found.verdict, found.pause_ns < BOUND_NS) == ("gone", True)


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_stopping_the_offender_at_the_start_of_the_pause_is_too_late(trial, preset):
    asked = trial(preset)
    assert asked.outcome(StopLoad("l1"), asked.pause.start_ns).verdict != "gone"


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_without_another_innocent_load_the_pause_is_unchanged(trial, preset):
    asked = trial(preset)
    assert asked.outcome(StopLoad("w1"), asked.pause.start_ns - 1_000_000_000).verdict == "unchanged"


@pytest.mark.parametrize(("at", "verdict"), [("before", "gone"), ("during", "unchanged")])
def test_a_remedy_helps_before_the_pause_but_not_during_it(trial, at, verdict):
    """The remedy is a low threshold, so that fewer requests are ahead in the queue."""
    asked = trial("base-device")
    at_ns = loads_start_ns(asked.run) - asked.run.zero_ns if at == "before" else asked.pause.start_ns + 100_000_000
    assert asked.outcome(read_remedy(["sysctl.vm.dirty_bytes=262144"]), at_ns).verdict == verdict


def test_a_proof_keeps_its_runs_and_nobody_else_works_on_it(shared_lab, tmp_path):
    run = shared_lab.run("base-device", "trace.lead=1s")
    spec = changed_spec(run, StopLoad("l1"), NS_PER_S, 4 * NS_PER_S)

    def prove():
        return proving(run, tmp_path / "proof", run.spec.kernel, lambda name: shared_lab.kernel)

    with prove() as make:
        (first,) = make([spec])
        with pytest.raises(InputError, match="another wblab repeats this run"), prove():
            pass
    with prove() as make:
        assert [each.path.stat().st_ino for each in make([spec, spec])] == [first.path.stat().st_ino] * 2
    assert {path.name for path in first.path.iterdir()} & {"trace.dat", "trace.dat.cpu0"} == set()
    assert [path.name for path in first.path.parent.iterdir()] == [first.path.name]
