"""Limits for a control group that is there: which files, which values, and how to undo them."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import SITE, advice_for

from wblab.core.errors import InputError
from wblab.live.advise.ofgroup import group_at, lines_for
from wblab.live.advise.settings import WantedSetting

SLICED = (
    WantedSetting("slice", "MemoryHigh", "1048576"),
    WantedSetting("slice", "IOWriteBandwidthMax", "{dir} 800"),
    WantedSetting("slice", "IOWeight", "10"),
    WantedSetting("queue", "scheduler", "bfq"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    group = tmp_path / "system.slice/docker-4f3c.scope"
    group.mkdir(parents=True)
    (group / "cgroup.procs").touch()
    (group / "memory.high").write_text("9999\n")
    (group / "io.bfq.weight").write_text("default 70\n")
    return tmp_path


@pytest.mark.parametrize("form", ["/{}", "{}", "0::/{}", "ROOT/{}"])
def test_a_group_is_named_as_the_kernel_or_as_the_directory_names_it(root: Path, form: str) -> None:
    path = form.replace("ROOT", str(root)).format("system.slice/docker-4f3c.scope")
    assert group_at(path, elsewhere=False, root=root) == root / "system.slice/docker-4f3c.scope"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/", "name a group below"),
        ("", "name a group below"),
        ("/system.slice/../..", "name a group below"),
        ("/nothing", "there is no control group"),
    ],
)
def test_what_is_no_group_is_refused_with_one_line(root: Path, path: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        group_at(path, elsewhere=False, root=root)
    assert "\n" not in str(error.value)


def test_of_another_machine_nobody_looks() -> None:
    assert group_at("/a b", elsewhere=True) == Path("/sys/fs/cgroup/a b")


def test_each_limit_has_a_line_that_undoes_it(root: Path) -> None:
    before = {"/sys/block/sda/queue/scheduler": "mq-deadline"}
    advice = advice_for(*SLICED, before=before, site=replace(SITE, bdi="8:0"))
    group = group_at("/system.slice/docker-4f3c.scope", elsewhere=False, root=root)
    assert list(lines_for(group, advice.candidate("it"), advice)) == [
        "echo bfq | sudo tee /sys/block/sda/queue/scheduler",
        "echo mq-deadline | sudo tee /sys/block/sda/queue/scheduler    # undoes it",
        f"echo 1048576 | sudo tee {group}/memory.high",
        f"echo 9999 | sudo tee {group}/memory.high    # undoes it",
        f"echo '8:0 wbps=800' | sudo tee {group}/io.max",
        f"echo '8:0 wbps=max' | sudo tee {group}/io.max    # undoes it",
        f"echo 10 | sudo tee {group}/io.bfq.weight",
        f"echo 'default 70' | sudo tee {group}/io.bfq.weight    # undoes it",
    ]


def test_a_filesystem_on_several_disks_has_no_number_for_io_max(root: Path) -> None:
    advice = advice_for(*SLICED, site=replace(SITE, bdi="btrfs-1"))
    lines = list(lines_for(root / "system.slice/docker-4f3c.scope", advice.candidate("it"), advice))
    assert not [line for line in lines if "io.max" in line]


def test_what_stood_in_a_file_of_another_machine_is_not_claimed(root: Path) -> None:
    advice = replace(advice_for(*SLICED, site=SITE), elsewhere="facts.txt")
    lines = list(lines_for(root / "system.slice/docker-4f3c.scope", advice.candidate("it"), advice))
    assert any(line.startswith("echo max | sudo tee") for line in lines)
