"""Texts that show the state of a machine: its dirty limits, its queues, and whether they can explain stalls."""

import io
import tarfile
from dataclasses import replace

import pytest
from support.reports import blocks
from support.statetexts import (
    COLUMNS,
    FORMS,
    GIB,
    MACHINES,
    MIB,
    headed,
    iostat,
    lsblk,
    lsblk_json,
    meminfo,
    pidstat,
    queues,
    sysctl,
    text,
    vmstat,
)

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.machinereport import headline, machine_report
from wblab.foreign.machinetext import read_machine
from wblab.lab.places import ROOT
from wblab.report.report import Lines
from wblab.report.text import lines


def read(*parts):
    return read_machine("\n".join(line for part in parts for line in part))


def machine(linux):
    (found,) = [each for each in MACHINES if each.linux.startswith(linux)]
    return found


def test_there_are_enough():
    assert len(MACHINES) * len(FORMS) >= 60
    assert {each.linux[0] for each in MACHINES} == {"3", "4", "5", "6", "7"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of", MACHINES, ids=lambda of: of.linux)
def test_each_form_of_each_machine_has_its_limits_and_queues(of, form):
    found = read_machine(text(of, form))
    assert found.limits.dirty.size_bytes == pytest.approx(of.dirty, abs=1 << 16)
    assert found.limits.background.size_bytes == pytest.approx(of.background, abs=1 << 16)
    assert {disk.name: (disk.scheduler, disk.queue_bytes) for disk in found.real_disks} == {
        name: (scheduler, requests * size_kib * 1024) for name, scheduler, requests, size_kib in of.disks
    }
    assert found.memory.now_bytes == of.now
    if form not in {"quoted", "plain"}:
        assert found.memory.release == of.linux
    answer = lines(machine_report("x", found), 80)
    assert answer.index("", 2) - 2 <= 5, answer
    assert all(len(line) <= 80 for line in answer)


def test_the_kernel_s_own_figures_count_more_than_what_is_computed():
    of = machine("6.1.0")
    found = read(meminfo(of), sysctl(of), ["nr_dirty_threshold 1000", "nr_dirty_background_threshold 500"])
    assert (found.limits.dirty.size_bytes, found.limits.dirty.is_exact) == (1000 * 4096, True)
    assert not read(meminfo(of), sysctl(of)).limits.dirty.is_exact


def test_how_large_a_page_is_follows_from_what_two_files_count():
    of = machine("5.10.0")
    assert read(meminfo(of), vmstat(of)).memory.page_bytes == 64 << 10
    assert read(vmstat(of)).memory.page_bytes is None
    assert "how large a page is" in str(machine_report("x", read(vmstat(of))).blocks)


def test_old_kernels_with_swap_may_count_anonymous_memory_too():
    of = replace(machine("3.2.0"), swap_free=GIB, anonymous=GIB)
    found = read(meminfo(of), sysctl(of)).limits.dirty
    assert (found.low_bytes, found.size_bytes) == pytest.approx((2 * GIB // 5, 3 * GIB // 5), abs=1 << 16)
    assert "about 410 to 614 MiB" in headline(read(meminfo(of), sysctl(of))) or "to" in headline(
        read(meminfo(of), sysctl(of))
    )


@pytest.mark.parametrize(
    "rows",
    [
        ["vm.dirty_ratio = 20", "vm.dirty_background_ratio = 10"],  # of how much memory?
        ["MemTotal: 100 kB", "MemFree: 50 kB", "Dirty: 8 kB", "Writeback: 0 kB"],
        ["vm.dirty_ratio = 0", "vm.dirty_background_ratio = 0", "MemFree: 50 kB"],  # it is set in bytes, not shown
    ],
)
def test_a_limit_that_the_text_does_not_hold_is_unknown(rows):
    found = read_machine("\n".join([*rows, "some avg10=1.00 avg60=1.00 avg300=1.00 total=1"]))
    assert found is None or found.limits is None


def test_high_memory_of_32_bits_is_unknown():
    of = machine("4.4.0")
    of = replace(of, settings=(("dirty_ratio", 20), ("dirty_background_ratio", 10)))
    assert read(meminfo(of), sysctl(of), ["HighTotal: 4000000 kB", "HighFree: 1000 kB"]).limits is None


def test_the_file_of_one_node_or_of_a_group_is_not_the_machine_s():
    assert read_machine("Node 0 Dirty: 123 kB\nNode 0 MemFree: 5 kB\nfile_dirty 77\n") is None


@pytest.mark.parametrize("version", COLUMNS)
@pytest.mark.parametrize("comma", [False, True])
def test_iostat_of_every_version_says_how_long_a_write_took(version, comma):
    of = machine("5.15.0")
    found = read(iostat(of, version, comma=comma))
    slow = found.disks.disks["sdb"]
    assert (slow.await_ms, slow.busy) == (4100.0, 99.8)
    assert slow.rate_bps == pytest.approx(90 * MIB, rel=0.01)
    assert found.disks.disks["nvme0n1"].rate_bps is None
    assert "A write to sdb took 4.10 s on average in a report: that explains stalls of seconds." in headline(found)


def test_the_first_report_is_of_all_the_time_since_boot():
    of = machine("5.15.0")
    found = read(*[iostat(of, reports=1)] * 3)
    assert found.awaited is None
    assert found.disks.disks["sdb"].rate_bps is None
    assert "the mean of all the time since boot" in str(machine_report("x", found).blocks)


def test_disks_that_were_not_busy_are_not_to_blame():
    of = machine("6.1.0")
    assert headline(read(meminfo(of), vmstat(of), iostat(of))).endswith("or no disk is to blame.")


def test_dirty_memory_beyond_the_middle_of_both_limits_slows_writers():
    of = machine("3.10.0")
    assert read(meminfo(of), vmstat(of)).is_slowed is True
    assert read(meminfo(replace(of, now=of.writeback)), vmstat(of)).is_slowed is False
    assert "the kernel slows all who write" in headline(read(meminfo(of), vmstat(of)))


def test_a_disk_without_a_scheduler_may_have_several_queues():
    of = replace(machine("6.1.0"), disks=(("nvme0n1", "none", 1023, 512),))
    assert "Each hardware queue of nvme0n1 holds up to 512 MiB" in headline(read_machine(text(of, "headed")))


def test_a_limit_for_one_disk_is_set_where_it_can_be_and_undone():
    of = replace(machine("5.15.0"), linux="6.8.0")
    bdi = ["==> /sys/block/sdb/dev <==", "8:16", "==> /sys/class/bdi/8:16/max_ratio_fine <==", "1000000"]
    strict = ["==> /sys/class/bdi/8:16/strict_limit <==", "0"]
    mapped = ["==> /sys/block/dm-0/dev <==", "253:0"]

    def commands(*more):
        found = machine_report("x", read(headed(of), iostat(of), *more))
        return [line for block in blocks(found) if isinstance(block, Lines) for line in block.lines if "bdi" in line]

    assert commands(bdi, strict)[1::2] == [
        "echo 1 > /sys/class/bdi/8:16/strict_limit",
        "echo 1000000 > /sys/class/bdi/8:16/max_ratio_fine    # too",
    ]
    assert commands(bdi, strict, mapped) == commands() == []


def test_the_page_shows_what_is_printed():
    of = machine("4.19.0")
    shown = lines(machine_report("facts.txt", read_machine("\n".join([*headed(of), *iostat(of)]))), 80)
    page = (ROOT / "docs/how-to/your-machine.md").read_text()
    assert "\n".join(f"    {line}" for line in shown[2 : shown.index("", 2)]) in page


def test_the_limit_in_seconds_of_the_disk_and_what_to_try():
    of = machine("4.19.0")
    found = machine_report("x", read_machine(text(of, "posted")))
    assert "65.0 s of work for mmcblk0" in str(found.headline) or " s of work for mmcblk0, which wrote 4 MiB/s" in str(
        found.headline
    )
    commands = [line for block in blocks(found) if isinstance(block, Lines) for line in block.lines]
    assert "echo 4 > /sys/block/mmcblk0/queue/nr_requests" in commands
    assert "echo 128 > /sys/block/mmcblk0/queue/nr_requests    # undoes it" in commands
    assert "sysctl -w vm.dirty_ratio=20    # undoes it" in commands


def test_limits_below_a_queue_are_named_for_what_they_do():
    of = machine("6.8.0")
    assert "stalled programs on a fast disk beside a slow one" in str(
        machine_report("x", read_machine(text(of, "headed"))).blocks
    )
    assert "beside a slow one" not in str(machine_report("x", read_machine(text(machine("6.1.0"), "headed"))).blocks)
    usual = replace(of, settings=(("dirty_ratio", 20), ("dirty_background_ratio", 10)))  # small memory, not low limits
    assert "beside a slow one" not in str(machine_report("x", read_machine(text(usual, "headed"))).blocks)


@pytest.mark.parametrize("form", [lsblk, lsblk_json])
def test_lsblk_says_scheduler_and_requests_of_disks(form):
    of = machine("5.15.0")
    found = read(form(of), ["MemFree: 1 kB", "Dirty: 1 kB", "Writeback: 1 kB"])
    assert {disk.name: (disk.scheduler, disk.whole("nr_requests")) for disk in found.real_disks} == {
        "nvme0n1": ("none", 1023),
        "sdb": ("bfq", 60),
    }


def test_pidstat_names_who_wrote():
    assert read(pidstat(machine("6.1.0"))).disks.writers == {"rsync": 51200.0 * 1024}


def test_pressure_counts_where_its_resource_is_named():
    found = read(headed(machine("6.1.0")))
    assert found.memory.pressure["io", "full"] == (65.1, 38.0, 11.0)
    assert (
        read_machine("MemFree: 1 kB\nDirty: 1 kB\nsome avg10=9.00 avg60=9.00 avg300=9.00 total=1").memory.pressure == {}
    )


def test_diskstats_twice_say_the_rate_while_busy():
    rows = [
        "==> /proc/diskstats <==",
        "   8  16 sdb 10 0 80 5 100 0 {} 900 0 {} 905",
        "   8  17 sdb1 1 0 8 5 10 0 9 9 0 9 9",
    ]
    (queue, _), *_ = queues(machine("5.15.0"))
    both = "\n".join(rows).format(1000, 5000), "\n".join(rows).format(1000 + 40960, 5000 + 2000)
    found = read_machine(
        f"==> {queue} <==\n64\n==> /sys/block/sdb/queue/nr_requests <==\n64\nDirty: 1 kB\n" + "\n".join(both)
    )
    assert found.disks.disks["sdb"].rate_bps == 40960 * 512 / 2
    assert "sdb1" not in found.disks.disks


def test_settings_of_which_there_are_several_are_named():
    of = machine("6.1.0")
    found = read(meminfo(of), sysctl(of), ["vm.dirty_ratio = 5"])
    assert "which vm.dirty_ratio holds: it has 20 and 5" in str(machine_report("x", found).blocks)


def test_a_tar_with_facts_is_read_and_stacks_come_first(tmp_path):
    of = machine("6.8.0")
    path = tmp_path / "facts.tar.gz"
    heads = "==> /proc/9/task/9/comm <==\ndd\n==> /proc/9/task/9/stack <==\n"
    stack = heads + "[<0>] balance_dirty_pages+0x1/0x2\n[<0>] ksys_write+0x1/0x2\n"
    for more, kind in (("", "state"), (stack, "stacks")):
        content = (more + text(of, "headed")).encode()
        with tarfile.open(path, "w:gz") as archive:
            about = tarfile.TarInfo("./facts.txt")
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
        found = explained(str(path))
        assert found.data["kind"] == kind
        assert (found.data["machine"] if more else found.data)["dirty_bytes"] == pytest.approx(of.dirty, abs=1 << 16)


def test_a_text_that_shows_nothing_of_use_is_refused(tmp_path):
    file = tmp_path / "x.txt"
    file.write_text("MemTotal: 1000 kB\nMemFree: 10 kB\n")
    with pytest.raises(InputError, match="the state of a machine"):
        explained(str(file))


def test_one_tool_s_output_alone_says_what_it_has():
    alone = read(lsblk(machine("5.15.0")))
    assert "1023 requests" in str(machine_report("x", alone).blocks)
    file = ["vm.dirty_background_bytes=16777216   # 16 MiB", "vm.dirty_bytes = 50331648 ; 48 MiB"]
    assert read(file).limits.dirty.size_bytes == 48 * MIB


def test_pressure_of_a_resource_that_is_not_named_is_asked_for(tmp_path):
    file = tmp_path / "psi.txt"
    file.write_text("some avg10=88.12 avg60=70.00 avg300=30.00 total=1231231231\n")
    with pytest.raises(InputError, match=r"grep \. /proc/pressure"):
        explained(str(file))
