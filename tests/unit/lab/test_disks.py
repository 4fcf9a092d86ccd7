import re

import pytest

from wblab.core.check import check_spec
from wblab.core.diskcheck import MODEL_KEYS
from wblab.core.errors import InputError
from wblab.lab.disks import disk_settings, doubts
from wblab.lab.places import PRESETS
from wblab.lab.results import DISKS
from wblab.lab.specfile import read_spec

MODEL = {"model", "driver", "write_bps", *MODEL_KEYS}


def test_common_disks_are_included():
    assert DISKS.names() == ["cloud-volume", "hdd", "nvme", "ram", "sd-card", "ssd", "usb-stick"]


@pytest.mark.parametrize("name", DISKS.names())
@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_a_disk_gives_a_valid_spec_and_replaces_the_whole_model(preset, name):
    settings = disk_settings(name)
    assert {setting.partition("=")[0].removeprefix("disk.") for setting in settings} == MODEL
    spec = read_spec(PRESETS / f"{preset}.toml", settings)
    check_spec(spec)
    assert spec.disk["disk"].model == "device"
    assert spec.disk["disk"].size == 130 << 20
    changed = read_spec(PRESETS / f"{preset}.toml", [*settings, "disk.write_bps=1MiB/s"])
    assert changed.disk["disk"].write_bps == 1 << 20


def test_each_of_several_disks_may_be_a_named_model():
    settings = [*disk_settings("slow=usb-stick"), *disk_settings("fast=nvme")]
    spec = read_spec(PRESETS / "two-disks.toml", settings)
    check_spec(spec)
    assert {name: disk.write_bps for name, disk in spec.disk.items()} == {"slow": 10_000_000, "fast": 1_500_000_000}


@pytest.mark.parametrize("name", DISKS.names())
def test_every_rate_has_a_source(name):
    for line in (DISKS.folder / f"{name}.toml").read_text().splitlines():
        if re.match(r"(write_bps|read_bps|drain_bps) = \"", line) and name != "ram":
            assert "  # " in line


def test_an_unknown_disk_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"no disk .usbstick. .did you mean .usb-stick.*one of cloud-volume, hdd"):
        disk_settings("usbstick")
    with pytest.raises(InputError, match=r"no disk '\.\./base'"):
        disk_settings("../base")


MEASURED = '[disk]\nmodel = "device"\nwrite_bps = "3MB/s"\n\n[measured]\nexplained = 0.9\n'


def test_a_file_can_describe_a_disk(tmp_path):
    file = tmp_path / "a=b.toml"
    file.write_text(MEASURED)
    spec = read_spec(PRESETS / "base-device.toml", disk_settings(str(file)))
    assert spec.disk["disk"].write_bps == 3_000_000
    spec = read_spec(PRESETS / "two-disks.toml", disk_settings(f"slow={file}"))
    assert {name: disk.write_bps for name, disk in spec.disk.items()} == {"slow": 3_000_000, "fast": 20 << 20}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no table .disk."),
        ("disk = 3", "has no table .disk."),
        ("[disk", "is not a TOML file"),
        (MEASURED.replace("write_bps", "size"), "disk.size is not a key of a disk's model"),
        (MEASURED.replace("3MB/s", "fast"), "disk.write_bps: 'fast' is not understood"),
        (MEASURED.replace("device", "throttle"), "with model = "),
    ],
)
def test_a_file_without_a_disk_is_refused(tmp_path, content, message):
    file = tmp_path / "x.toml"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        disk_settings(str(file))


def test_a_model_that_explains_little_is_doubtful(tmp_path):
    file = tmp_path / "x.toml"
    for explained, said in (("0.95", []), ("'much'", []), ("0.13", ["the model of {!r} explains 13% of what was"])):
        file.write_text(MEASURED.replace("0.9", explained))
        assert [text.partition(" measured")[0] for text in doubts(str(file))] == [
            text.format(str(file)) for text in said
        ]
    assert doubts("usb-stick") == []


def test_a_missing_file_is_refused():
    with pytest.raises(InputError, match=r"no disk 'none\.toml'"):
        disk_settings("slow=none.toml")
