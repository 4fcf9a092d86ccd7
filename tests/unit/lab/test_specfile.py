import json
import tomllib
from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.core.loads import Control, Offender
from wblab.core.spec import GuestKernel, Spec, Trace
from wblab.core.tables import from_table, to_table
from wblab.core.units import Nanoseconds
from wblab.lab.formats import RUN
from wblab.lab.places import PRESETS
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec, set_key, spec_of, spec_toml


@pytest.fixture
def toml(tmp_path, spec_text):
    path = tmp_path / "small.toml"
    path.write_text(spec_text)
    return path


@pytest.fixture
def record(tmp_path, toml):
    path = tmp_path / "experiment.json"
    path.write_text(json.dumps(RUN.head() | {"spec": to_table(read_spec(toml))}))
    return path


@pytest.mark.parametrize(
    ("setting", "get", "value"),
    [
        ("seed=7", lambda spec: spec.seed, 7),
        ("disk.write_bps=2M", lambda spec: spec.disk["disk"].write_bps, 2 << 20),
        ('disk.write_bps="2M"', lambda spec: spec.disk["disk"].write_bps, 2 << 20),
        ("disk.scheduler=bfq", lambda spec: spec.disk["disk"].scheduler, "bfq"),
        ("disk.scheduler='bfq'", lambda spec: spec.disk["disk"].scheduler, "bfq"),
        (
            'disk.mkfs_options=["-O", "^has_journal"]',
            lambda spec: spec.disk["disk"].mkfs_options,
            ("-O", "^has_journal"),
        ),
        ("disk.mount_options=[]", lambda spec: spec.disk["disk"].mount_options, ()),
        ("phase.cold={at='1s'}", lambda spec: spec.phase["cold"].at, 10**9),
        ("disk.queue.nr_requests=64", lambda spec: spec.disk["disk"].queue, {"nr_requests": 64}),
        ("sysctl.vm.dirty_bytes=50000", lambda spec: spec.sysctl, {"vm.dirty_bytes": 50000}),
        ("trace.events=[]", lambda spec: spec.trace.events, ()),
        ("clock.mode=real", lambda spec: spec.clock.mode, "real"),
        ("load.c1.idle=7ms", lambda spec: spec.load["c1"], Control(idle=7_000_000)),
        ('load.c2={kind = "control", idle = "1s"}', lambda spec: spec.load["c2"], Control(idle=10**9)),
        ("kernel=", lambda spec: spec.kernel.build, ""),
        ("kernel=6.10", lambda spec: spec.kernel, GuestKernel(name="6.10")),
        ("kernel.name=7.2", lambda spec: spec.kernel, GuestKernel(name="7.2")),
        ("kernel.config.BASE=0x10", lambda spec: spec.kernel.config, {"BASE": "0x10"}),
        ("kernel.parameters.a.b = true", lambda spec: spec.kernel.parameters, {"a.b": "true"}),
        ("kernel=a=b", lambda spec: spec.kernel.build, "a=b"),
        ("kernel.parameters.um_cycles=0", lambda spec: spec.kernel.parameters, {"um_cycles": 0}),
        ("kernel.parameters.printk.devkmsg=on", lambda spec: spec.kernel.parameters, {"printk.devkmsg": "on"}),
        ("kernel.config.PREEMPT=y", lambda spec: spec.kernel.build, "+PREEMPT=y"),
        ("name = other", lambda spec: spec.name, "other"),
    ],
)
def test_a_setting_changes_one_key(toml, setting, get, value):
    assert get(read_spec(toml, [setting])) == value


def test_settings_apply_in_their_order(toml):
    spec = read_spec(
        toml, ["seed=1", "load.l2.kind=load", "load.l2={kind='load', file='f', wait='0', size=9, block=2}"]
    )
    assert spec.load["l2"] == Offender(file="f", wait=0, size=9, block=2)
    assert read_spec(toml, ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("seed", "'seed' is not of the form key=value: write for example"),
        ("=5", "'=5' is not of the form key=value"),
        ("", "'' is not of the form key=value"),
        ("memory.a=5", "cannot set 'memory.a': 'memory' is not a table"),
        ("disk.size.b.c=5", "cannot set 'disk.size.b.c': 'size' is not a table"),
        ("disk.up.size=5", "a disk cannot be called 'up': disk.up is a setting of disks: choose another name, such as"),
        ("disk.bdi.size=5", "a disk cannot be called 'bdi'"),
        ("disk..size=5", "'disk.size' and the table 'disk.' cannot stand together"),
        (
            "disk.fast.size=5",
            "'disk.size' and the table 'disk.fast' cannot stand together: with names, write for example disk.fast.size",
        ),
        ("sysctl=5", "sysctl must be a table"),
        ("disk=5", "disk must be a table"),
        ("kernel=5", "kernel must be a string or a table, not 5"),
        ("kernel.config=5", r"kernel\.config must be a table, not 5"),
        ("kernel={config={X=true}}", r"kernel\.config\.X must be a whole number or a string, not True"),
        ("kernel.parameter.x=5", r"unknown key 'kernel\.parameter' .did you mean 'parameters'"),
        ("memroy=1M", "unknown key 'memroy' .did you mean 'memory'"),
        ("seed=" + "1" * 5000, "seed must be a whole number"),
    ],
)
def test_an_invalid_setting_is_refused(toml, setting, message):
    with pytest.raises(InputError, match=message):
        read_spec(toml, [setting])


def test_a_record_gives_the_same_spec_again(toml, record):
    assert read_spec(record) == read_spec(toml)
    assert read_spec(record, ["disk.write_bps=2M"]) == read_spec(toml, ["disk.write_bps=2M"])


def test_the_default_name_is_that_of_the_file(tmp_path, toml, spec_text):
    (tmp_path / "other.toml").write_text(spec_text.replace('name = "small"', ""))
    assert read_spec(tmp_path / "other.toml").name == "other"
    assert read_spec(toml).name == "small"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.toml", b"memory = "),
        ("x.toml", b"a = 1\na = 2\n"),
        ("x.toml", b"\xff\xfe\x00binary"),
        ("x.toml", b"seed = " + b"1" * 5000),
        ("x.json", b"{"),
        ("x.json", b"[]"),
        ("x.json", b"{}"),
        ("x.json", b'{"format": 1, "kind": "uml", "spec": null}'),
        ("x.json", b'{"format": 1, "kind": "uml", "spec": [[1, 2]]}'),
        ("x.json", b"\xff"),
    ],
)
def test_a_file_without_a_spec_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}(' is not a TOML file: .| is damaged: .| has format None, )"):
        read_spec(tmp_path / name)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot read the spec '.*missing.toml': No such file"):
        read_spec(tmp_path / "missing.toml")
    with pytest.raises(InputError, match=r"cannot read the spec .* not a regular file"):
        read_spec(tmp_path)


def test_a_spec_is_found_by_path_run_directory_or_preset(tmp_path, toml, record):
    assert SPECS.find(str(toml)) == toml
    assert SPECS.find(str(tmp_path)) == record
    assert SPECS.find("base") == PRESETS / "base.toml"
    assert "base" in SPECS.names()


@pytest.mark.parametrize("text", ["bsae", "no/such.toml", "x" * 5000, "a\0b", ""])
def test_an_unknown_spec_is_refused_with_the_known_ones(text):
    with pytest.raises(InputError, match=r"(?s)^no spec .* or one of base, base-") as raised:
        SPECS.find(text)
    assert repr(text) in str(raised.value)


def test_the_nearest_preset_is_suggested():
    with pytest.raises(InputError, match="did you mean 'base'"):
        SPECS.find("bsae.toml")


def test_a_sysctl_name_with_dots_can_be_set_in_a_phase():
    table = {}
    set_key(table, "phase.cold.sysctl.vm.drop_caches", 3)
    assert table == {"phase": {"cold": {"sysctl": {"vm.drop_caches": 3}}}}


def test_a_control_file_name_with_dots_can_be_set_in_a_phase():
    table = {}
    set_key(table, "phase.tight.cgroup.g.files.memory.high", "8M")
    assert table == {"phase": {"tight": {"cgroup": {"g": {"files": {"memory.high": "8M"}}}}}}


@pytest.mark.parametrize(
    "settings",
    [
        ["kernel=7.2+one", "kernel.parameters.um_cycles=0", "kernel.config.B=y", "kernel.config.A=250"],
        ["kernel.parameters.um_cycles=0", "kernel.config={A=250, B='y'}", 'kernel="7.2+one"'],
        ["kernel=6.1", "kernel={name='7.2+one', parameters={um_cycles=0}, config={B='y', A=250}}"],
    ],
)
def test_a_kernel_s_name_options_and_parameters_are_set_in_any_order(toml, settings):
    spec = read_spec(toml, settings)
    assert spec.kernel == GuestKernel(name="7.2+one", parameters={"um_cycles": 0}, config={"A": 250, "B": "y"})
    assert spec.kernel.build == "7.2+one+A=250+B=y"
    assert spec.on("6.1").kernel == replace(spec.kernel, name="6.1")
    assert from_table(Spec, json.loads(json.dumps(to_table(spec))), exact=True) == spec


def test_a_kernel_that_has_only_a_name_is_recorded_by_it(toml):
    assert to_table(read_spec(toml))["kernel"] == ""
    assert to_table(read_spec(toml, ["kernel.name='7.2'"]))["kernel"] == "7.2"
    assert to_table(read_spec(toml, ["kernel.config.X=y"]))["kernel"] == {
        "name": "",
        "config": {"X": "y"},
        "parameters": {},
    }


def test_a_parameter_with_a_dot_needs_no_quotes_in_a_file(tmp_path, spec_text):
    path = tmp_path / "dotted.toml"
    path.write_text(f"kernel.name = '7.2'\nkernel.parameters.printk.devkmsg = 'on'\n{spec_text}")
    assert read_spec(path).kernel == GuestKernel(name="7.2", parameters={"printk.devkmsg": "on"})


def again(spec):
    return spec_of(tomllib.loads(spec_toml(spec)), exact=False)


@pytest.mark.parametrize("name", SPECS.names())
def test_every_preset_reads_back(name):
    spec = read_spec(SPECS.find(name))
    assert again(spec) == spec


def test_units_are_as_somebody_writes_them():
    text = spec_toml(read_spec(SPECS.find("base-device")))
    assert 'write_bps = "1 MiB/s"' in text
    assert 'idle = "50 ms"' in text
    assert "syscall_cost" not in text  # a default


def test_what_is_odd_survives():
    spec = read_spec(SPECS.find("base"))
    odd = replace(spec.clock, syscall_cost=Nanoseconds(25_001))
    spec = replace(spec, clock=odd, seed=0, trace=Trace(triggers={'a"b': "c\n\x7f"}))
    assert again(spec) == spec
