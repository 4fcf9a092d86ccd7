import re

import pytest

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.stacks import images, part_of, size_bytes, top, write_bps
from wblab.core.tables import from_table

RAW = {"size": "64M", "write_bps": "1M", "filesystem": "none"}
MOUNTED = {"size": "64M", "write_bps": "2M"}
MIRROR = {"model": "raid1", "on": ["a", "b"]}
CRYPT = {"model": "crypt", "on": ["a"]}
SLOW = {"model": "delay", "on": ["a"], "delay": "10ms"}
TWO = {"a": RAW, "b": RAW}


@pytest.fixture
def spec(table):
    def make(**disks):
        made = from_table(Spec, table | {"disk": disks})
        check_spec(made)
        return made

    return make


def test_components_decide_the_size_and_rate_of_a_disk(spec):
    half = RAW | {"write_bps": "512K"}
    made = spec(a=RAW, b=half, slow=SLOW | {"filesystem": "none"}, m=MIRROR | {"on": ["slow", "b"]})
    assert (size_bytes(made, "m"), write_bps(made, "m"), write_bps(made, "slow")) == (64 << 20, 512 << 10, 1 << 20)
    assert [part_of(made, name) for name in made.disk] == ["slow", "m", "m", ""]
    assert {name: top(made, name) for name in made.disk} == dict.fromkeys(made.disk, "m")
    assert (list(images(made)), made.first_disk) == (["a", "b"], "m")


def test_copied_disks_have_their_own_devices_in_order(spec):
    ram, loop = {"model": "ram", "size": "16M"}, {"model": "loop", "size": "32M", "on": ["a"]}
    made = spec(r=ram, a=MOUNTED, l=loop, b=MOUNTED)
    assert list(images(made)) == ["r", "a", "l", "b"]
    assert (write_bps(made, "l"), write_bps(made, "r"), made.first_disk) == (2 << 20, 0, "r")
    bare = spec(a=MOUNTED, r=ram | {"filesystem": "none"}, l=loop | {"filesystem": "none"})
    assert (list(images(bare)), top(bare, "a")) == (["a"], "a")


SWAP = {"filesystem": "swap"}
FILE = SWAP | {"model": "file", "size": "16M", "on": ["a"]}
ZRAM = SWAP | {"model": "zram", "size": "64M"}


def test_what_is_swapped_to_has_no_image_and_is_no_loads_disk(spec):
    made = spec(z=ZRAM, p=RAW | SWAP, a=MOUNTED, f=FILE)
    assert (made.swaps, made.first_disk, list(images(made))) == (True, "a", ["p", "a"])
    assert (top(made, "a"), size_bytes(made, "f")) == ("a", 16 << 20)
    assert list(images(spec(a=MOUNTED, z=ZRAM | {"filesystem": "ext4"}))) == ["a", "z"]
    assert spec(a=RAW, s=SLOW | SWAP, b=MOUNTED).swaps


@pytest.mark.parametrize(
    ("disks", "message"),
    [
        ({"a": MOUNTED | {"filesystem": "vfat"}, "f": FILE}, "disk.f.on: a file to swap to needs ext4 or xfs"),
        ({"a": MOUNTED, "f": FILE | {"filesystem": "ext4"}}, "disk.f.model: a file is only for .* 'swap'"),
        ({"a": MOUNTED, "f": FILE | {"queue": {"nr_requests": 4}}}, "disk.f.queue and disk.f.bdi: a file has none"),
        ({"a": MOUNTED, "p": RAW | SWAP, "f": FILE | {"on": ["p"]}}, "disk.f.on: 'p' needs a filesystem of its own"),
        ({"p": RAW | SWAP, "s": SLOW | {"on": ["p"]}}, "disk.p.filesystem: 'p' is a part of 's'"),
        ({"p": RAW | SWAP}, "load.w1.disk: 'p' is for memory that is swapped out: give another disk"),
        ({"a": MOUNTED, "z": ZRAM | {"size": "64G"}}, "memory: the disks of zram have more than 4 times as much"),
        ({"a": MOUNTED, "p": RAW | SWAP | {"size": "64K"}}, "disk.p.size: 64 KiB is too small for a disk"),
    ],
)
def test_a_disk_that_cannot_be_swapped_to_is_refused_with_its_key(spec, disks, message):
    with pytest.raises(InputError, match=message):
        spec(**disks)


def test_an_encrypted_disk_has_an_image_of_its_own_and_the_one_below_has_no_filesystem(spec):
    made = spec(a=RAW, b=RAW, m=MIRROR | {"filesystem": "none"}, c=CRYPT | {"on": ["m"], "workqueues": "reads"})
    assert {name: disk.size for name, disk in images(made).items()} == dict.fromkeys("abc", 64 << 20)
    assert {name: top(made, name) for name in made.disk} == {"a": "m", "b": "m", "m": "m", "c": "c"}
    assert [bool(part_of(made, name)) for name in made.disk] == [True, True, True, False]


@pytest.mark.parametrize(
    ("disks", "message"),
    [
        ({"a": RAW, "m": MIRROR | {"on": ["a", "c"]}}, r"disk.m.on: no disk 'c' before it.*: choose from a"),
        ({"m": MIRROR, **TWO}, "disk.m.on: no disk 'a' before it"),
        ({"a": RAW, "m": MIRROR | {"on": ["a"]}}, "disk.m.on: raid1 needs two or more disks"),
        ({"a": RAW, "m": MIRROR | {"on": ["a", "a"]}}, "disk.m.on: raid1 needs two or more disks"),
        (TWO | {"s": SLOW | {"on": ["a", "b"]}}, "disk.s.on: delay needs one disk"),
        ({"r": {"model": "ram", "size": "4M", "on": ["a"]}}, "disk.r.on has no meaning with disk.r.model = 'ram'"),
        ({"a": MOUNTED, "s": SLOW}, "disk.a.filesystem: 'a' is a part of 's': give disk.a.filesystem = 'none'"),
        ({"a": RAW, "s": SLOW, "t": SLOW}, "disk.s.on: 'a' is already a part of another disk"),
        ({"a": RAW, "l": {"model": "loop", "size": "8M", "on": ["a"]}}, "disk.l.on: 'a' needs a filesystem of its own"),
        (
            TWO | {"b": RAW | {"size": "32M"}, "m": MIRROR},
            "disk.m.on: the disks have different sizes, 32 MiB, 64 MiB",
        ),
        (TWO | {"m": MIRROR | {"size": "64M"}}, "disk.m.size has no meaning with disk.m.model = 'raid1'"),
        (TWO | {"m": MIRROR | {"write_bps": "1M"}}, "disk.m.write_bps has no meaning"),
        (TWO | {"m": MIRROR | {"scheduler": "bfq"}}, "disk.m.scheduler has no meaning"),
        (TWO | {"m": MIRROR | {"latency": "1ms"}}, "disk.m.latency needs disk.m.model = 'device'"),
        ({"a": MOUNTED | {"delay": "1ms"}}, "disk.a.delay has no meaning with disk.a.model = 'throttle'"),
        ({"a": RAW, "s": SLOW | {"delay": "1us"}}, "disk.s.delay: 1 us is invalid: give a multiple of 1 ms"),
        ({"a": RAW, "s": {"model": "flakey", "on": ["a"]}}, "disk.s.down: 0 s is invalid: give a multiple of 1 s"),
        (
            {"a": RAW, "s": {"model": "dust", "on": ["a"], "bad": [1]}},
            "disk.s.bad: 1 is not on the disk, or no multiple of 4096",
        ),
        ({"a": RAW, "s": {"model": "dust", "on": ["a"], "bad": ["64M"]}}, "disk.s.bad: 67108864 is no"),
        ({"a": RAW, "c": CRYPT, "s": SLOW | {"on": ["c"]}}, "disk.c.filesystem: 'c' is a part of 's'"),
        ({"a": RAW, "c": CRYPT | {"filesystem": "none"}, "s": SLOW | {"on": ["c"]}}, "disk.s.on: 'c' is encrypted"),
        ({"a": RAW, "c": CRYPT | {"direct_io": True}}, "disk.c.direct_io has no meaning"),
        ({"a": RAW, "c": CRYPT | {"workqueues": "no"}}, "disk.c.workqueues: 'no'"),
        ({"a": RAW, "s": SLOW | {"workqueues": "none"}}, "disk.s.workqueues has no meaning"),
        ({"a": RAW, "s": SLOW | {"cipher": "aes-xts-plain64"}}, "disk.s.cipher has no meaning"),
        ({"r": {"model": "ram", "size": "64M"}}, "memory: the RAM disks need more than half of it"),
        (
            {"r": {"model": "ram", "size": "16M"}, "s": {"model": "ram", "size": "8M"}},
            "disk.r.size: all RAM disks have one size",
        ),
        ({"r": {"model": "ram"}}, "disk.r.size: 0 B is too small for ext4"),
        ({"a": {"write_bps": 1}}, "disk.a.size: 0 B is too small"),
        ({"a": {"size": "64M"}}, "disk.a.write_bps: the disk needs a rate above 0"),
        ({"a": RAW}, "load.w1.disk: 'a' has no filesystem: choose a raw kind"),
    ],
)
def test_invalid_stacked_disks_are_refused_with_their_key(spec, disks, message):
    with pytest.raises(InputError, match=message):
        spec(**disks)


def test_a_load_may_not_use_a_component(spec, table):
    table["load"]["w1"]["disk"] = "a"
    with pytest.raises(InputError, match=r"load.w1.disk: 'a' is a part of disk 'm': give 'm' instead"):
        spec(**TWO, m=MIRROR)


SERVED = {"model": "served", "filesystem": "fuse", "size": "64M", "write_bps": "2M", "latency": "1ms", "depth": 4}


def test_a_served_filesystem_has_a_rate_and_no_image(spec):
    made = spec(nas=SERVED | {"up": "10s", "down": "500ms", "write_cache": True}, a=MOUNTED)
    assert (list(images(made)), write_bps(made, "nas"), made.first_disk) == (["a"], 2 << 20, "nas")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filesystem": "ext4"}, "disk.nas.model = 'served' needs disk.nas.filesystem = 'fuse': give both"),
        ({"model": "device"}, "disk.nas.filesystem = 'fuse' needs disk.nas.model = 'served': give both"),
        ({"write_bps": "0"}, "disk.nas.write_bps: the disk needs a rate above 0"),
        ({"queue": {"nr_requests": 4}}, "disk.nas.queue has no meaning with disk.nas.model = 'served'"),
        ({"up": "1s"}, "disk.nas.up and disk.nas.down belong together"),
        ({"up": "1s", "down": "25h"}, "disk.nas.down: 90000 s is not between 0 and a day"),
        ({"seek_time": "1ms"}, "disk.nas.seek_time needs disk.nas.model = 'device'"),
        ({"driver": "sata"}, "disk.nas.driver has no meaning with disk.nas.model = 'served'"),
    ],
)
def test_a_served_filesystem_has_only_what_its_server_can_do(spec, change, message):
    with pytest.raises(InputError, match=re.escape(message)):
        spec(nas=SERVED | change)


def test_what_reads_back_content_is_not_for_a_served_filesystem(spec, table):
    with pytest.raises(InputError, match=r"disk.l.on: the files of 'nas' keep no content: choose another disk"):
        spec(nas=SERVED, l={"model": "loop", "size": "32M", "on": ["nas"]})
    table["load"]["x"] = {"kind": "command", "disk": "nas", "argv": ["true"], "wait": "1s"}
    with pytest.raises(InputError, match=r"load.x.disk: the files of 'nas' keep no content, which programs read"):
        spec(a=MOUNTED, nas=SERVED)


def test_only_a_served_filesystem_has_a_write_cache_of_the_kernel(spec):
    with pytest.raises(InputError, match="write_cache has no meaning"):
        spec(a=MOUNTED | {"write_cache": True})
