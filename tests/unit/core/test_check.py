import pytest

from wblab.core.check import check_spec, disk_number
from wblab.core.diskcheck import MIN_DISK
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.specfile import read_spec

DEVICE = "disk={size='64M', write_bps='1M', model='device'"


@pytest.fixture
def check(tmp_path, spec_text):
    path = tmp_path / "small.toml"
    path.write_text(spec_text)

    def run(*settings):
        check_spec(read_spec(path, settings))

    return run


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("name=''", "name: '' is not a valid name"),
        ("name=a/b", "name: 'a/b' is not a valid name"),
        ("name=_a", "name: '_a' is not a valid name"),
        ("name=..", "name: '..' is not a valid name"),
        ('name="a\\n"', "name: 'a.n' is not a valid name"),
        (f"name={'a' * 65}", "name: 'a+' is not a valid name"),
        ("seed=-1", "seed: -1 is not between"),
        ("seed=9223372036854775808", "seed: 9223372036854775808 is not between"),
        ("memory=31M", "memory: 31 MiB is too small: give at least 32 MiB"),
        *(
            (f"disk={{size='512K', write_bps=1, filesystem='{name}'}}", "disk.size: 512 KiB is too")
            for name in MIN_DISK
        ),
        ("disk.size=67108865", "disk.size: 67108865 bytes is not a multiple of 4096"),
        ("disk.resident=1G", "disk.resident: 1 GiB is more than disk.size: leave it out"),
        ("disk={size='128G', resident='1G', write_bps=1}", "disk.size: 128 GiB is too large: give at most 64 GiB"),
        ("disk={size='1G', resident='1M', write_bps=1, filesystem='btrfs'}", "disk.resident: btrfs needs memory for"),
        ("disk.used=91", "disk.used: 91 is not between 0 and 90 per cent"),
        ("disk.layout=0", "disk.layout: 0 is not between 1 and 6"),
        ("disk={size='1G', used=20, write_bps=1, filesystem='ext2'}", "disk.used and disk.layout need disk.filesystem"),
        (
            "disk={size='65G', layout=2, write_bps=1}",
            "disk.size: too large with disk.used or disk.layout: give at most 64 GiB",
        ),
        ("disk.write_bps=0", "disk.write_bps: .* give for example 1MiB/s"),
        ("disk.latency=5ms", "disk.latency needs disk.model = 'device'"),
        ("disk.depth=2", "disk.depth needs disk.model = 'device'"),
        ("disk.stalls=random", "disk.stalls needs disk.model = 'device'"),
        (f"{DEVICE}, latency='5s'}}", "disk.latency: 5 s is too long: give at most 4s"),
        (f"{DEVICE}, seek_time='5s'}}", "disk.seek_time: 5 s is too long"),
        (f"{DEVICE}, depth=0}}", "disk.depth: 0 is not between 1 and 64"),
        (f"{DEVICE}, depth=65}}", "disk.depth: 65 is not between 1 and 64"),
        (f"{DEVICE}, stall_every='1M'}}", "disk.stall_every and disk.stall_time belong together"),
        (f"{DEVICE}, stall_time='1s'}}", "disk.stall_every and disk.stall_time belong together"),
        (f"{DEVICE}, stalls='random'}}", "disk.stalls needs disk.stall_every"),
        (f"{DEVICE}, cache_bytes='1M'}}", "disk.cache_bytes and disk.drain_bps belong together"),
        (f"{DEVICE}, cache_bytes='4G', drain_bps='1M'}}", "disk.cache_bytes: 4 GiB is too large: give less than 4 GiB"),
        ("load.l1.size=65M", "disk.size: the loads write 65 MiB, .* raise it"),
        ("sysctl.vm.dirty_byte=5", "sysctl: unknown key 'vm.dirty_byte' .did you mean 'vm.dirty_bytes'"),
        ("sysctl.vm=5", "sysctl: 'vm' is not a sysctl key"),
        ("sysctl.vm./etc=5", "sysctl: 'vm./etc' is not a sysctl key"),
        ("sysctl={'vm.dirty_bytes'=16384, 'vm.dirty_ratio'=5}", "vm.dirty_bytes and vm.dirty_ratio exclude each other"),
        (
            "sysctl={'vm.dirty_background_bytes'=5, 'vm.dirty_background_ratio'=5}",
            "vm.dirty_background_bytes and vm.dirty_background_ratio exclude",
        ),
        ("trace.events=['a:b:c']", "trace.events: 'a:b:c' is not of the form system:event"),
        ("trace.filters={'sched:sched_switch'='1'}", "trace.filters: 'sched:sched_switch' is not in trace.events"),
        ("trace={events=['block'], triggers={block=' '}}", "trace.triggers: ' ' of block is empty or unprintable"),
        ("trace.events=['-e']", "trace.events: '-e' is not"),
        ("load={}", r"load: the spec has no load: add at least one table \[load.NAME\]"),
        ("load={'a/b'={kind='control', idle='5s'}}", "load: 'a/b' is not a valid name"),
        ("load={c1={kind='control', idle='5s'}}", "no offender"),
        ("load.c1.until=0", "load.c1.until: 0 is not after the loads' start"),
        ("load.c1.iolevel=8", "load.c1.iolevel: 8 is not between 0 and 7"),
        ("load.c1.iolevel=-1", "load.c1.iolevel: -1 is not between 0 and 7"),
        ("load.c1.idle=0", "load.c1.idle: must be longer than 0"),
        ("load.mw1.idle=0s", "load.mw1.idle: must be longer than 0"),
        *(
            (f"load.w1.file='{file}'", "load.w1.file: .* inside the mount")
            for file in ("", ".", "/a", "../a", "a/../b")
        ),
        ('load.w1.file="a\\u0000"', "load.w1.file: .* inside the mount"),
        ("load.w1.block=0", "load.w1.block: give between 1 B and 16 MiB"),
        ("load.l1.block=0", "load.l1.block: give between 1 B and 16 MiB"),
        ("load.l1.block=17M", "load.l1.block: give between 1 B and 16 MiB"),
        ("load.l1.block=1", "load.l1.block: 8388608 writes are more than 4194304: raise block"),
        ("load.l1.size=0", "load.l1.size: an offender must write something"),
        ("load.l1.wait=901s", "load.l1.wait ends after time_limit, 900 s"),
        ("load.l1={kind='command', argv=[], wait='0'}", "load.l1.argv: give a program"),
        ("load.l1={kind='command', argv=['a'], wait='901s'}", "load.l1.wait ends after time_limit"),
        ("agent.a.argv=['']", "agent.a.argv: give a program"),
        ("agent={'a/b'={argv=['true']}}", "agent: 'a/b' is not a valid name"),
        ("cgroup.g.loads=['mw2']", "cgroup.g.loads: no load 'mw2' .did you mean 'mw1'"),
        ("cgroup={g={loads=['l1']}, h={loads=['l1']}}", "cgroup.h.loads: 'l1' is already in cgroup.g"),
        ("cgroup.root.loads=['l1']", "cgroup.root.loads: the root group holds every load"),
        ("cgroup.g.files.memory=5", "cgroup.g.files: 'memory' is not a controller's file"),
        ("cgroup.g.files.memory.max/../x=5", "cgroup.g.files: .* is not a controller's file"),
        ("cgroup.g.files.io.weight=5", "cgroup.g.files: 'io.weight' needs disk.model = 'device'"),
        ("may_fail=['mw2']", "may_fail: no load 'mw2' .did you mean 'mw1'"),
        ("phase.a={at='901s'}", "phase.a.at: 901 s is not between 0 and time_limit"),
        ("phase={'a/b'={at='1s'}}", "phase: 'a/b' is not a valid name"),
        ("phase.a={at='1s', sysctl={'vm.dirty_byte'=5}}", "phase.a.sysctl: unknown key 'vm.dirty_byte'"),
        ("phase.a={at='1s', disk={disc={queue={nr_requests=8}}}}", "phase.a.disk: no disk 'disc' .did you mean 'disk'"),
        ("phase.a={at='1s', load={mw2={ioclass='idle'}}}", "phase.a.load: no load 'mw2' .did you mean 'mw1'"),
        ("phase.a={at='1s', load={w1={iolevel=8}}}", "phase.a.load.w1.iolevel: 8 is not between 0 and 7"),
        ("phase.a={at='1s', cgroup={g={loads=['mw2']}}}", "phase.a.cgroup.g.loads: no load 'mw2' .did you mean 'mw1'"),
        (
            "phase.a={at='1s', cgroup={g={files={memory=5}}}}",
            "phase.a.cgroup.g.files: 'memory' is not a controller's file",
        ),
        ("phase.a={at='1s', cgroup={g={files={'io.max'=''}}}}", "phase.a.cgroup.g.files: 'io.max' needs disk.model = "),
        ("stop_order=['mw2']", "stop_order: no load 'mw2' .did you mean 'mw1'"),
        ("stop_order=['l1']", "stop_order: 'l1' is an offender"),
    ],
)
def test_an_invalid_spec_is_refused_with_its_key(check, setting, message):
    check()
    with pytest.raises(InputError, match=message):
        check(setting)


@pytest.mark.parametrize(
    "settings",
    [
        ["disk.model=device", "disk.latency=5ms"],
        [f"{DEVICE}, depth=64, seek_time='8ms', read_bps='1G', cache_bytes='32M', drain_bps='2M'}}"],
        [f"{DEVICE}, stall_every='64M', stall_time='500ms', stalls='random'}}"],
        ["sysctl.vm.dirty_bytes=16384", "sysctl.vm.dirty_ratio=0"],
        ["sysctl.vm.dirty_bytes=16384", "sysctl.vm.dirty_background_ratio=5"],
        ["sysctl.kernel.sched_rt_runtime_us=-1"],
        ["trace.events=['writeback', 'block:*', 'sched:sched_switch']"],
        ["load.w1.file=a/b"],
        ["stop_order=['w1', 'c1']"],
        ["seed=0"],
        ["cgroup.g.loads=['l1']", "cgroup.g.files.memory.max=16M", "cgroup.root.files.memory.reclaim=1M"],
        ["disk.model=device", "cgroup.g.files.io.bfq.weight=5", "agent.a.argv=['wblab', 'mitigate']"],
        ["load.l1={kind='command', argv=['dd'], wait='5s'}"],
        ["load.l2={kind='load', file='l1', wait='0', size='64M', block='1K'}"],
    ],
)
def test_a_valid_spec_is_accepted(check, settings):
    check(*settings)


@pytest.mark.parametrize(("key", "value"), [("start", -1), ("wait", -1), ("block", -1), ("size", -1)])
def test_negative_numbers_of_a_record_are_refused(table, key, value):
    table |= {"memory": 100 << 20, "disk": {"size": 64 << 20, "write_bps": 1}}
    offender = {"kind": "load", "file": "f", "wait": 0, "size": 1, "block": 1} | {key: value}
    with pytest.raises(InputError, match=rf"load\.l1\.{key}"):
        check_spec(from_table(Spec, table | {"load": {"l1": offender}}, exact=True))


def test_a_phase_limits_a_group_s_io_where_no_throttle_has_the_controller(check):
    settings = ("phase.a.at=1s", "phase.a.cgroup.g.files.io.max='{disk} wbps=1000'")
    check("disk.model=device", *settings)
    with pytest.raises(InputError, match=r"phase\.a\.cgroup\.g\.files: 'io\.max' needs disk\.model = 'device'"):
        check(*settings)


def test_loads_are_stopped_in_the_listed_order_by_default(table):
    assert from_table(Spec, table).stops == ["c1", "w1", "mw1"]
    assert from_table(Spec, table | {"stop_order": ["mw1", "c1"]}).stops == ["mw1", "c1", "w1"]
    assert from_table(Spec, table).offenders == ["l1"]


SLOW = {"size": 64 << 20, "write_bps": 1}
FAST = SLOW | {"size": 8 << 20, "model": "device"}


def of_two(table, **changes):
    return from_table(Spec, table | {"disk": {"slow": SLOW, "fast": FAST}} | changes)


def test_each_disk_has_room_for_its_own_loads(table):
    loads = {f"l{n}": {"kind": "load", "file": "f", "wait": 0, "size": 5 << 20, "block": "1K"} for n in (1, 2)}
    loads["l1"]["disk"] = "fast"
    check_spec(of_two(table, load=loads))
    loads["l1"]["size"] = 9 << 20
    with pytest.raises(
        InputError, match=r"disk\.fast\.size: the loads write 9 MiB, which does not fit on a disk of 8 MiB"
    ):
        check_spec(of_two(table, load=loads))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"load": {"w1": {"kind": "write", "file": "f", "idle": "1s", "disk": "fats"}}},
         r"load.w1.disk: no disk 'fats' \(did you mean 'fast'\?\): choose from slow, fast"),
        ({"disk": {"slow": SLOW, "fa.st": FAST}}, "disk: 'fa.st' is not a valid name"),
        ({"disk": {"slow": SLOW, "fast": FAST | {"size": 4096}}}, "disk.fast.size: 4 KiB is too small for ext4"),
        ({"disk": {"slow": SLOW | {"latency": "5us"}}}, "disk.slow.latency needs disk.slow.model = 'device'"),
        ({"disk": {f"d{n}": SLOW for n in range(9)}}, "disk: the spec has 9 disks: give 1 to 8"),
        ({"cgroup": {"g": {"files": {"memory.max": "{disk.fats}"}}}}, "memory.max: no disk .fats. .did you mean"),
        ({"cgroup": {"g": {"files": {"io.max": "{disk}"}}}}, "'io.max' needs disk.slow.model = 'device'"),
    ],
)  # fmt: skip
def test_invalid_disks_are_refused_with_their_key(table, changes, message):
    check_spec(of_two(table))
    with pytest.raises(InputError, match=message):
        check_spec(of_two(table, **changes))


def test_disk_names_become_device_numbers():
    numbers = {"slow": "98:0", "fast": "98:16"}
    assert disk_number("{disk} wbps=1, {disk.fast} {other}", numbers, "k") == "98:0 wbps=1, 98:16 {other}"
