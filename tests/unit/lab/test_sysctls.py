"""Sysctls may have units, and invalid ones are refused before anything boots."""

import pytest

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


def of(*settings, preset="base"):
    return read_spec(SPECS.find(preset), settings)


@pytest.mark.parametrize(
    ("key", "text", "number"),
    [
        ("vm.dirty_bytes", "8M", 8 << 20),
        ("vm.dirty_background_bytes", "4096", 4096),
        ("vm.dirty_ratio", "10%", 10),
        ("vm.dirty_expire_centisecs", "5s", 500),
        ("vm.dirty_writeback_centisecs", "100ms", 10),
        ("vm.dirty_writeback_centisecs", "0", 0),
        ("vm.swappiness", "200", 200),
    ],
)
def test_units_are_understood(key, text, number):
    assert of(f"sysctl.{key}={text}").sysctl[key] == number
    phase = of(f"phase.late={{at='1s', sysctl={{'{key}'='{text}'}}}}").phase["late"]
    assert phase.sysctl[key] == number


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("vm.dirty_ratio=120", r"sysctl.vm.dirty_ratio: 120 is not between 0 and 100: write for example 20"),
        ("vm.dirty_ratio=ten", r"sysctl.vm.dirty_ratio: 'ten' is not understood"),
        ("vm.dirty_bytes=4095", r"sysctl.vm.dirty_bytes: 4095 is not between 8192 and"),
        ("vm.dirty_bytes=8X", r"sysctl.vm.dirty_bytes: '8X' is not understood: write for example 8MiB"),
        ("vm.dirty_bytes=-1", r"sysctl.vm.dirty_bytes: -1 is not between"),
        ("vm.swappiness=201", r"between 0 and 200"),
        ("vm.drop_caches=9", r"between 1 and 4"),
    ],
)
def test_invalid_values_are_refused_before_boot(setting, says):
    with pytest.raises(InputError, match=says):
        of(f"sysctl.{setting}")


def test_setting_one_of_a_pair_clears_the_other_as_in_the_kernel():
    found = of("sysctl.vm.dirty_bytes=8M").sysctl
    assert (found["vm.dirty_bytes"], "vm.dirty_ratio" in found) == (8 << 20, False)
    found = of("sysctl.vm.dirty_bytes=8M", "sysctl.vm.dirty_ratio=10").sysctl
    assert (found["vm.dirty_ratio"], "vm.dirty_bytes" in found) == (10, False)
    assert "vm.dirty_background_ratio" in found


def test_setting_one_of_a_pair_to_0_keeps_the_other():
    assert of("sysctl.vm.dirty_bytes=0").sysctl["vm.dirty_ratio"] == 20


def test_both_of_a_pair_in_one_file_are_refused(tmp_path):
    text = (
        SPECS.find("base")
        .read_text()
        .replace('"vm.dirty_ratio" = 20', '"vm.dirty_ratio" = 20\n"vm.dirty_bytes" = "8M"')
    )
    (tmp_path / "both.toml").write_text(text)
    with pytest.raises(InputError, match=r"dirty_bytes and vm\.dirty_ratio exclude each other"):
        check_spec(read_spec(tmp_path / "both.toml"))


def test_unlisted_sysctls_are_left_to_the_kernel():
    assert of("sysctl.kernel.sched_rr_timeslice_ms=5").sysctl["kernel.sched_rr_timeslice_ms"] == 5
