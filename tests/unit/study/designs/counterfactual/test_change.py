"""What a run is made again with: read from the command line, and put into its spec."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import Attributes, Cgroup, Phase, Priority
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.counterfactual.change import Stop, read_remedy

SPEC = read_spec(PRESETS / "base.toml")
S = 10**9


def test_a_suspect_is_stopped_and_nothing_else_differs():
    changed = Stop("l1").applied(SPEC, 3 * S)
    assert changed.load["l1"] == replace(SPEC.load["l1"], until=3 * S)
    assert replace(changed, load=SPEC.load) == SPEC


def test_a_suspect_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(InputError, match=r"no load 'mw2' .did you mean 'mw1'"):
        Stop("mw2").applied(SPEC, S)


def test_a_remedy_is_a_phase_of_all_that_is_to_be_set():
    settings = (
        "sysctl.vm.dirty_bytes=4194304",
        "disk.disk.queue.nr_requests=4",
        "disk.disk.mount_options=['nobarrier']",
        "load.l1.ioclass=idle",
        "cgroup.slow={loads=['l1'], files={'memory.high'='8M'}}",
    )
    remedy = read_remedy(settings)
    changed = remedy.applied(SPEC, 3 * S)
    assert changed.phase == {
        "remedy": Phase(
            at=3 * S,
            sysctl={"vm.dirty_bytes": 4 << 20},
            disk={"disk": Attributes(queue={"nr_requests": 4}, mount_options=("nobarrier",))},
            load={"l1": Priority(ioclass="idle")},
            cgroup={"slow": Cgroup(loads=("l1",), files={"memory.high": "8M"})},
        )
    }
    assert replace(changed, phase={}) == SPEC
    assert remedy.name == ", ".join(settings)


def test_a_remedy_leaves_the_phases_of_the_run_as_they_are():
    remedy = read_remedy(["sysctl.vm.swappiness=1"])
    twice = remedy.applied(remedy.applied(SPEC, S), 2 * S)
    assert [phase.at for phase in twice.phase.values()] == [S, 2 * S]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sysctl.vm.dirty_bytes", "'sysctl.vm.dirty_bytes' is not of the form key=value: write for example disk"),
        ("load.l1.ioclas=idle", "unknown key '--remedy.load.l1.ioclas' .did you mean 'ioclass'"),
        ("load.l1.ioclass=lazy", "--remedy.load.l1.ioclass: 'lazy' is not one of"),
        ("queue.nr_requests=4", "unknown key '--remedy.queue'"),
        ("at=4s", "--remedy at=4s: wblab chooses the times itself"),
    ],
)
def test_what_is_no_remedy_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        read_remedy([setting])
