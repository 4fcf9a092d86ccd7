"""Changes to a repeated run: parsed from the command line, applied to its spec."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import Attributes, Cgroup, Phase, Priority
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.prove.change import LeftOut, StopLoad, read_remedy

SPEC = read_spec(PRESETS / "base.toml")
S = 10**9


def test_stop_changes_only_the_suspect():
    changed = StopLoad("l1").applied(SPEC, 3 * S)
    assert changed.load["l1"] == replace(SPEC.load["l1"], until=3 * S)
    assert replace(changed, load=SPEC.load) == SPEC


def test_unknown_suspect_suggests_the_nearest_load():
    with pytest.raises(InputError, match=r"no load 'mw2' .did you mean 'mw1'"):
        StopLoad("mw2").applied(SPEC, S)


def test_remedy_adds_a_phase_with_all_its_settings():
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


def test_remedy_keeps_existing_phases():
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
def test_invalid_remedy_is_refused(setting, message):
    with pytest.raises(InputError, match=message):
        read_remedy([setting])


def test_a_phase_is_left_out_like_a_load():
    spec = read_spec(PRESETS / "base-device.toml")
    phased = read_remedy(["sysctl.vm.drop_caches=3"]).applied(spec, 5 * 10**9)
    (name,) = phased.phase
    without = LeftOut((), phases=(name,))
    assert (without.applied(phased, 0).phase, without.names) == ({}, ("the phase *remedy*",))
