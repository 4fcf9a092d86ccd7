import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.loads import KINDS, Control, Load, Offender
from wblab.core.spec import Disk, Spec
from wblab.core.tables import from_table, to_table
from wblab.lab.places import PRESETS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


def put(table, path, value):
    *parents, last = path.split("/")
    for part in parents:
        table = table.setdefault(part, {})
    table[last] = value


@pytest.mark.parametrize("name", SPECS.names())
def test_a_preset_can_run_and_survives_its_record(name):
    spec = read_spec(PRESETS / f"{name}.toml")
    check_spec(spec)
    assert spec.name == name
    assert from_table(Spec, json.loads(json.dumps(to_table(spec))), exact=True) == spec


def test_values_are_converted_to_the_units_of_the_fields(table):
    spec = from_table(Spec, table)
    assert (spec.memory, spec.disk["disk"].write_bps, spec.trace.events) == (100 << 20, 1 << 20, ("writeback:*",))
    assert spec.load["c1"] == Control(idle=50_000_000)
    assert spec.load["l1"] == Offender(file="l1", wait=5 * 10**9, size=8 << 20, block=1024)


@pytest.mark.parametrize(
    ("path", "suggestion"),
    [
        ("memroy", "did you mean 'memory'"),
        ("disk/write_bpss", "did you mean 'write_bps'"),
        ("clock/mod", "did you mean 'mode'"),
        ("trace/event", "did you mean 'events'"),
        ("load/l1/siz", "did you mean 'size'"),
        ("load/c1/file", ""),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_one(table, path, suggestion):
    put(table, path, 1)
    with pytest.raises(InputError, match=f"unknown key '{path.replace('/', '.')}'.*{suggestion}"):
        from_table(Spec, table)


@pytest.mark.parametrize("path", ["name", "memory", "disk", "load", "load/l1/wait"])
def test_a_missing_key_is_named(table, path):
    *parents, last = path.split("/")
    node = table
    for part in parents:
        node = node[part]
    del node[last]
    with pytest.raises(InputError, match=f"'{path.replace('/', '.')}' is missing"):
        from_table(Spec, table)


SMALL = {"kind": "write", "file": "w", "idle": "50ms"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("name", 5, "name must be a string, not 5"),
        ("seed", "5", "seed must be a whole number, not '5'"),
        ("seed", True, "seed must be a whole number, not True"),
        ("seed", 1.5, "seed must be a whole number, not 1.5"),
        ("memory", 1.5, "memory must be a number with a unit, such as '4KiB' or '5ms', not 1.5"),
        ("memory", True, "memory must be a number with a unit, such as '4KiB' or '5ms', not True"),
        ("memory", "1X", "memory: '1X' is not understood: write for example 150M"),
        ("memory", -1, "memory: '-1' is not understood"),
        ("time_limit", 5, "time_limit: '5' is not understood: write for example 50ms"),
        ("disk", [], r"disk must be a table, not \[\]"),
        ("disk", "ext4", "disk must be a table, not 'ext4'"),
        ("disk/write_bps", "1m", "disk.write_bps: '1m' is not understood: write for example 1MiB/s"),
        (
            "disk/filesystem",
            "ext5",
            "disk.filesystem: 'ext5' is not one of ext2, ext3, ext4, xfs, btrfs, .* .did you mean 'ext4'",
        ),
        ("disk/scheduler", ["bfq"], r"disk.scheduler: \['bfq'\] is not one of default, none, mq-deadline"),
        ("disk/mount_options", "sync", "disk.mount_options must be a list, not 'sync'"),
        ("disk/mkfs_options", [1], "disk.mkfs_options must be a string, not 1"),
        ("disk/queue", 3, "disk.queue must be a table, not 3"),
        ("disk/queue/nr_requests", 1.5, "disk.queue.nr_requests must be a whole number or a string, not 1.5"),
        ("sysctl", {"vm.dirty_ratio": [1]}, r"sysctl.vm.dirty_ratio must be a whole number or a string, not \[1\]"),
        ("clock/mode", "reel", "clock.mode: 'reel' is not one of virtual, real .did you mean 'real'"),
        ("load", [], r"load must be a table, not \[\]"),
        ("load/c1", 3, "load.c1 must be a table, not 3"),
        ("load/c1/kind", "contrl", "load.c1.kind: unknown kind 'contrl' .did you mean 'control'"),
        ("load/c1/kind", [1], r"load.c1.kind: unknown kind \[1\]"),
        ("load/c2/idle", "5ms", "'load.c2.kind' is missing: choose from control, write, multiwrite, "),
        ("load/c1/idle", "50", "load.c1.idle: '50' is not understood"),
        ("load/w1", SMALL | {"dontcache": 1}, "load.w1.dontcache must be true or false, not 1"),
        ("load/w1", SMALL | {"dontcache": "true"}, "load.w1.dontcache must be true or false, not 'true'"),
        ("load/w1", SMALL | {"block": True}, "load.w1.block must be a number with a unit"),
        ("load/c1/ioclass", "best", "load.c1.ioclass: 'best' is not one of none, realtime, best-effort, idle"),
    ],
)
def test_an_invalid_value_is_named(table, path, value, message):
    put(table, path, value)
    with pytest.raises(InputError, match=message):
        from_table(Spec, table)


@pytest.mark.parametrize("value", [None, [], "spec", 3])
def test_a_spec_must_be_a_table(value):
    with pytest.raises(InputError, match="the spec must be a table"):
        from_table(Spec, value)


def test_exact_numbers_are_in_the_fields_own_units():
    assert from_table(Load, {"kind": "control", "idle": 5}, exact=True) == Control(idle=5)
    assert from_table(Load, {"kind": "control", "idle": "5ms"}, exact=True) == Control(idle=5_000_000)
    with pytest.raises(InputError, match="idle"):
        from_table(Load, {"kind": "control", "idle": True}, exact=True)


def test_defaults_are_part_of_the_record():
    table = to_table(Disk(size=1 << 20, write_bps=1))
    assert table["scheduler"] == "default"
    assert table["mount_options"] == []
    assert table["queue"] == {}


KEYS = [
    "name",
    "seed",
    "memory",
    "disk",
    "clock",
    "sysctl",
    "trace",
    "load",
    "size",
    "write_bps",
    "kind",
    "idle",
    "file",
]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([*KINDS, "5s"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
)


@settings(max_examples=60)
@given(
    st.fixed_dictionaries(
        {
            "name": st.just("x") | VALUES,
            "memory": st.just(1) | VALUES,
            "disk": st.just({"size": 1, "write_bps": 1}) | VALUES,
            "load": st.dictionaries(st.text(max_size=3), VALUES, max_size=2) | VALUES,
        },
        optional=dict.fromkeys(("clock", "sysctl", "trace", "stop_order", "time_limit", "other"), VALUES),
    )
    | VALUES,
    st.booleans(),
)
def test_any_table_is_a_spec_or_an_input_error(table, exact):
    with suppress(InputError):
        spec = from_table(Spec, table, exact=exact)
        with suppress(InputError):
            check_spec(spec)
        assert from_table(Spec, to_table(spec), exact=True) == spec


FAST = {"size": "8MiB", "write_bps": "4MiB/s"}
SLOW = {"size": "64MiB", "write_bps": "1MiB/s"}


def test_disks_with_names_keep_their_order(table):
    spec = from_table(Spec, table | {"disk": {"slow": SLOW, "fast": FAST}})
    assert [(name, disk.write_bps) for name, disk in spec.disk.items()] == [("slow", 1 << 20), ("fast", 4 << 20)]
    assert [spec.first_disk, spec.disk_of("l1"), spec.disk_key("fast")] == ["slow", "slow", "disk.fast"]
    assert from_table(Spec, json.loads(json.dumps(to_table(spec))), exact=True) == spec


def test_a_disk_without_a_name_is_recorded_without_one(table):
    spec = from_table(Spec, table)
    assert (list(spec.disk), spec.disk_key("disk"), spec.disk_of("l1")) == (["disk"], "disk", "disk")
    assert to_table(spec)["disk"]["write_bps"] == 1 << 20
    assert from_table(Spec, table | {"disk": {"disk": table["disk"]}}) == spec


def test_one_disk_with_a_name_keeps_it(table):
    spec = from_table(Spec, table | {"disk": {"fast": FAST}})
    assert list(spec.disk) == list(to_table(spec)["disk"]) == ["fast"]
    assert spec.disk_key("fast") == "disk.fast"


@pytest.mark.parametrize(
    ("disk", "message"),
    [
        (
            SLOW | {"fast": FAST},
            "'disk.size' and the table 'disk.fast' cannot stand together: with names, write for example disk.fast.size",
        ),
        (SLOW | {"queu": {}}, "'disk.size' and the table 'disk.queu' cannot stand together .did you mean 'queue'"),
        ({"slow": SLOW, "fast": 3}, "disk.fast must be a table, not 3"),
        ({"slow": SLOW | {"sise": 3}}, "unknown key 'disk.slow.sise' .did you mean 'size'"),
    ],
)
def test_ambiguous_disk_names_are_refused(table, disk, message):
    with pytest.raises(InputError, match=message):
        from_table(Spec, table | {"disk": disk})
