from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.guest.settings import own_bdi, put, set_sysctls


@pytest.mark.parametrize(("value", "text"), [(5, "5"), ("bfq", "bfq"), (0, "0")])
def test_a_setting_is_written_as_text(tmp_path, value, text):
    put(tmp_path / "file", value, "it")
    assert (tmp_path / "file").read_text() == text


def test_a_missing_setting_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WblabError, match=r"cannot set disk\.queue\.x to 5 in the guest: Not a directory"):
        put(tmp_path / "file" / "x", 5, "disk.queue.x")


def test_an_unknown_sysctl_is_named():
    with pytest.raises(WblabError, match=r"cannot set sysctl vm\.no_such_key to 'x' in the guest: "):
        set_sysctls({"vm.no_such_key": "x"})


def test_a_setting_of_memory_that_is_no_sysctl_is_below_another_directory():
    with pytest.raises(WblabError, match=r"cannot set sysctl mm\.no\.such to 'y' in the guest: No such file"):
        set_sysctls({"mm.no.such": "y"})


def test_a_sysctl_can_be_set_to_its_present_value():
    path = Path("/proc/sys/kernel/pid_max")
    try:
        set_sysctls({"kernel.pid_max": path.read_text().strip()})
    except WblabError as error:  # an ordinary user
        assert "Permission denied" in str(error) or "Read-only" in str(error)  # noqa: PT017


def test_btrfs_has_a_bdi_of_its_own_which_its_device_leads_to(tmp_path):
    for number in (1, 2):
        (devices := tmp_path / f"fs/btrfs/uuid-{number}/devices").mkdir(parents=True)
        (devices / f"loop{number}").touch()
    assert own_bdi(Path("/dev/loop2"), "btrfs", tmp_path) == tmp_path / "fs/btrfs/uuid-2/bdi"
