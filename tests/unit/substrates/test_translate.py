"""A spec as a stock kernel gets it, and what it refuses."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.substrates.qemu.command import check, in_bytes, largest_request_bytes, translated
from wblab.substrates.qemu.initramfs import module_names

MIB = 1 << 20
BACKGROUND, LIMIT = "vm.dirty_background_bytes", "vm.dirty_bytes"


def spec(*settings: str, preset: str = "two-disks") -> Spec:
    return read_spec(SPECS.find(preset), settings)


def test_limits_in_per_cent_are_the_same_shares_in_bytes():
    found = in_bytes(spec("memory=100MiB", "sysctl.vm.dirty_ratio=30", "sysctl.vm.dirty_background_ratio=7")).sysctl
    assert (found[BACKGROUND], found[LIMIT]) == (7 * MIB, 30 * MIB)
    assert "vm.dirty_ratio" not in found


def test_without_limits_they_are_the_kernels_defaults():
    found = in_bytes(replace(spec("memory=100MiB"), sysctl={"vm.swappiness": 10})).sysctl
    assert found == {"vm.swappiness": 10, BACKGROUND: 10 * MIB, LIMIT: 20 * MIB}


def test_limits_are_in_whole_pages_and_never_none():
    small = replace(spec("memory=33MiB"), sysctl={"vm.dirty_ratio": 7, "vm.dirty_background_ratio": 0})
    found = in_bytes(small).sysctl
    assert found[LIMIT] == 33 * MIB * 7 // 100 // 4096 * 4096
    assert found[BACKGROUND] == 2 * 4096  # 0 bytes would mean that the share holds, and one page is refused


def test_limits_in_bytes_stay():
    given = replace(spec(), sysctl={BACKGROUND: 5000, LIMIT: 12345, "vm.dirty_expire_centisecs": 100})
    assert in_bytes(given) == given
    unset = in_bytes(replace(spec("memory=100MiB"), sysctl={LIMIT: 0, "vm.dirty_ratio": 30})).sysctl
    assert unset[LIMIT] == 30 * MIB


def test_the_memory_grows_by_the_disks():
    given = spec("memory=100MiB", "disk.slow.size=130MiB", "disk.fast.size=64MiB")
    found = translated(given)
    assert found.memory == (100 + 130 + 64) * MIB
    assert found.sysctl == in_bytes(given).sysctl  # as shares of the spec's memory


def test_with_a_driver_of_the_kernels_own_nothing_of_a_disk_is_changed():
    given = spec("memory=100MiB", "disk.slow.queue.nr_requests=4", "disk.slow.driver='sd'", "disk.fast.scheduler=bfq")
    found = translated(given, "nvme")
    assert (found.memory, found.sysctl) == (given.memory, in_bytes(given).sysctl)
    for name, disk in found.disk.items():
        assert disk.queue_attributes == given.disk[name].queue  # nor what the lab sets for its model of another driver
    assert [disk.elevator for disk in found.disk.values()] == ["mq-deadline", "bfq"]
    # A scheduler is what kernels give a disk with one queue; this driver has one for each processor.
    assert [disk.elevator for disk in translated(given, "nvme", 2).disk.values()] == ["none", "bfq"]
    assert translated(given, "sata", 2).disk["slow"].elevator == "mq-deadline"
    with pytest.raises(InputError, match=r"disk\.slow\.seek_time: "):
        translated(spec("disk.slow.seek_time=1ms"), "sata")


def test_there_is_room_for_so_many_disks_by_a_driver():
    slow = spec().disk["slow"]
    many = replace(spec(), load={}, disk={f"d{place}": slow for place in range(7)})
    with pytest.raises(InputError, match=r"7 disks: .* at most 6"):
        check(many, "sata")
    check(many)


@pytest.mark.parametrize(("driver", "held"), [("usb-storage", 2 * MIB), ("uas", 14 * MIB), ("nvme", 2048 * 20 << 10)])
def test_the_queue_in_memory_holds_what_the_disks_driver_would_as_far_as_it_can(driver, held):
    slow = translated(spec(f"disk.slow.driver={driver!r}")).disk["slow"]
    assert (int(slow.queue["nr_requests"]) * int(slow.queue["max_sectors_kb"])) << 10 == pytest.approx(held, rel=0.02)
    assert slow.elevator == "mq-deadline"


def test_the_queue_holds_as_many_bytes():
    own = ("disk.slow.driver=ubd", "disk.fast.driver=ubd", "disk.slow.queue.wbt_lat_usec=0")
    found = translated(spec("disk.slow.write_bps=1MiB/s", "disk.fast.write_bps=20MiB/s", *own))
    slow, fast = found.disk["slow"], found.disk["fast"]
    assert (slow.queue["max_sectors_kb"], fast.queue["max_sectors_kb"]) == (20, 124)
    for disk in (slow, fast):
        held = int(disk.queue["max_sectors_kb"]) * 1024 * int(disk.queue["nr_requests"])
        assert held == pytest.approx(128 * 255 * 512, rel=0.01)
    fewer = translated(spec("disk.slow.queue.nr_requests=4", *own)).disk["slow"]
    assert int(fewer.queue["nr_requests"]) * 20480 == pytest.approx(4 * 255 * 512, rel=0.05)
    assert slow.queue["wbt_lat_usec"] == 0
    assert translated(spec("disk.slow.queue.nr_requests=1", *own)).disk["slow"].queue["nr_requests"] >= 4
    smaller = translated(spec("disk.slow.queue.max_sectors_kb=8", *own)).disk["slow"]
    assert (smaller.queue["max_sectors_kb"], smaller.queue["nr_requests"]) == (8, 128)  # as it would be there
    assert translated(spec("disk.slow.queue.max_sectors_kb=900", *own)).disk["slow"] == slow
    many = translated(spec("disk.slow.queue.nr_requests=1000")).disk["slow"]
    assert many.queue["nr_requests"] == 2048  # the kernel takes no more
    assert "nr_requests" not in translated(spec("disk.slow.scheduler=none")).disk["slow"].queue


def test_a_request_is_never_larger_than_what_the_disk_gets_at_once():
    for rate, largest in (("1MiB/s", 20480), ("2MiB/s", 40960), ("100MiB/s", 126976)):
        assert largest_request_bytes(spec(f"disk.slow.write_bps={rate}").disk["slow"]) == largest


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (["disk.slow.read_bps=2MiB/s"], "disk.slow.read_bps"),
        (["disk.slow.seek_time=1ms"], "disk.slow.seek_time"),
        (["disk.slow.stall_every=1MiB", "disk.slow.stall_time=1s"], "disk.slow.stall_every"),
        (["disk.slow.cache_bytes=1MiB", "disk.slow.drain_bps=1MiB/s"], "disk.slow.cache_bytes"),
        (["disk.slow.used=50"], "disk.slow.used"),
        (["disk.slow.layout=1"], "disk.slow.layout"),
        (["disk.slow.resident=64MiB"], "disk.slow.resident"),
        (["disk.slow.write_bps=1500000"], "disk.slow.write_bps"),
        (["disk.fast.write_bps=0"], "disk.fast.write_bps"),
        (["disk.fast.model=ram"], "disk.fast.model"),
        (["kernel.parameters={x='1'}"], "kernel.parameters"),
        (["kernel.config={PREEMPT='y'}"], "kernel.config"),
        (["phase.p={at='1s'}"], "phase.p"),
        (["agent.a={argv=['/bin/true']}"], "agent.a"),
        (["load.x={kind='command', argv=['/bin/true']}"], "load.x"),
        (["disk.slow.queue.nr_requests=many"], "disk.slow.queue.nr_requests"),
        (["disk.fast.queue.max_sectors_kb=0"], "disk.fast.queue.max_sectors_kb"),
    ],
)
def test_what_qemu_lacks_is_refused_by_its_key(settings, key):
    with pytest.raises(InputError, match=key) as raised:
        check(spec(*settings))
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError):
        translated(spec(*settings))


def test_presets_that_can_run_are_not_refused():
    for preset in ("base", "base-device", "base-ext2", "two-disks", "commit", "neighbours"):
        check(spec(preset=preset))


def test_disks_of_dm_crypt_and_loops_are_taken_as_they_are_and_need_their_modules():
    for name, disk, modules in (("crypt", "secret", {"dm_crypt", "crypto_null"}), ("loop-device", "image", {"loop"})):
        given = spec(preset=name)
        assert translated(given).disk[disk] == given.disk[disk]
        assert modules <= set(module_names(given))
        with pytest.raises(InputError, match=f"disk.{disk}.model=.*: in QEMU a disk is 'throttle', 'device'"):
            translated(given, "sata")


def test_memory_is_swapped_beside_disks_of_a_driver_only_also_to_zram():
    zram = ("disk.swap.model=zram", "disk.swap.on=[]")
    given = spec(*zram, preset="swap")
    assert "zram" in module_names(given, "sata")
    assert translated(given, "sata").disk["swap"] == given.disk["swap"]
    for settings in ((), zram):
        with pytest.raises(InputError, match="name a driver"):
            translated(spec(*settings, preset="swap"))
    with pytest.raises(InputError, match="one disk of zram"):
        translated(spec(*zram, "disk.more={model='zram', size='8MiB', filesystem='swap'}", preset="swap"), "sata")
