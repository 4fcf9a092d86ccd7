"""A monitored guest runs a sampler in addition to its other programs."""

import json

import pytest

from wblab.core import layout
from wblab.core.errors import InputError
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.live.monitor.replay import watched


def test_a_sampler_is_added_to_the_guest():
    spec = read_spec(PRESETS / "base.toml", ["agent.other.argv=['true']"])
    seen = watched(spec)
    assert set(seen.agent) == {"other", "sampler"}
    assert str(layout.SAMPLES_DEVICE) in seen.agent["sampler"].argv[-1]
    assert (seen.load, seen.disk, seen.agent["other"]) == (spec.load, spec.disk, spec.agent["other"])


def asked(preset, *settings):
    spec = watched(read_spec(PRESETS / f"{preset}.toml", list(settings)))
    return json.loads(spec.agent["sampler"].argv[-1])


def probed(preset, *settings):
    return asked(preset, *settings)["probe"]


def test_the_probe_writes_to_the_first_disk_with_a_filesystem():
    assert probed("base") == "/mnt/disk"
    assert probed("two-disks") == "/mnt/slow"
    other = "disk.other={size='16MiB', model='throttle', write_bps='1MiB/s'}"
    assert probed("linear", other) == probed("mirror", other) == "/mnt/other"


def test_a_guest_without_any_filesystem_is_not_watched():
    with pytest.raises(InputError, match="no disk of linear has a filesystem"):
        probed("linear")


def test_several_disks_have_their_spec_names_and_a_single_disk_none():
    assert asked("two-disks")["called"] == {"ubda": "slow", "ubdb": "fast"}
    assert asked("mirror", "disk.mirror.filesystem='ext4'")["called"] == {"ubda": "a", "ubdb": "b"}
    assert asked("base")["called"] == {"ubda": ""}
