"""Parameters of the guest's kernel: which a spec may give, how they are written, and what a console says of them."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import GuestKernel
from wblab.host.command import kernel_arguments
from wblab.host.kernelparameters import arguments, check_parameters, check_taken, may_take
from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec

ENVIRONMENT = "PYTHONPATH=/proc/self/fd/11/experiment.pyz TZ=UTC0"


def base(**parameters):
    table = ", ".join(f'"{name}" = {value!r}' for name, value in parameters.items())
    return read_spec(PRESETS / "base.toml", [f"kernel.parameters={{{table}}}"] if parameters else [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("um_cycles", 0),
        ("um_cpu", "host"),
        ("workqueue.power_efficient", "true"),
        ("slub_debug", "FZ,kmalloc-*"),
        ("cgroup_disable", "memory"),
        ("memblock", "debug"),
        ("initcall_debug", ""),
        ("root_plug", "1"),
    ],
)
def test_parameters_of_the_kernel_are_allowed(name, value):
    check_parameters(base(**{name: value}))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *[("mem", "memory"), ("time-travel", "clock.mode"), ("time_travel-start", "clock.mode")],
        *[("tt-syscall-ns", "clock.syscall_cost"), ("tt_syscall_ns", "clock.syscall_cost"), ("um_seed", "seed")],
        *[("ubd0", "disk"), ("ubd.latency_ns", "disk"), ("udbr1", "disk"), ("sysctl.vm.swappiness", "sysctl")],
        ("brd.rd_nr", "disk.model = 'ram'"),
    ],
)
def test_what_a_key_of_the_spec_sets_is_refused_with_that_key(name, key):
    with pytest.raises(InputError) as raised:
        check_parameters(base(**{name: 1}))
    said = f"kernel.parameters.{name}: the lab sets this parameter by the spec's {key}: give that instead"
    assert str(raised.value) == said


@pytest.mark.parametrize(
    "name", ["init", "rdinit", "root", "ro", "rw", "seccomp", "con0", "console", "quiet", "umid", "noreboot", "panic"]
)
def test_what_the_lab_needs_is_refused(name):
    with pytest.raises(InputError, match=f"parameters.{name}: the lab needs its own value"):
        check_parameters(base(**{name: "x"}))


@pytest.mark.parametrize(
    "name",
    [
        *("hostfs", "uml_dir", "uml-dir", "mconsole", "ssl0", "eth0", "vec0", "xterm", "dsp", "initrd", "dtb", "iomem"),
        *("virtio_uml.device", "uml_vfio.device", "hostaudio.mixer"),
    ],
)
def test_what_opens_something_of_the_host_is_refused(name):
    with pytest.raises(InputError, match="is for devices and files of the host: remove it"):
        check_parameters(base(**{name: "x"}))


def test_all_that_the_lab_says_itself_is_refused():
    spec = read_spec(PRESETS / "base-device.toml")
    own = kernel_arguments(spec)
    for argument in own[: own.index("--")]:
        with pytest.raises(InputError):
            check_parameters(base(**{argument.partition("=")[0]: "x"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("--", ""), ("-S", ""), ("a b", 1), ("a=b", 1), ("", 1), ("PYTHONHOME", "x"), ("LD_PRELOAD", "x")],
        *[("a", "b c"), ("a", "b\tc"), ("a", '"b'), ("a", "/etc/passwd"), ("a", "b\\c"), ("a", "b\n--"), ("é", 1)],
    ],
)
def test_a_parameter_stays_one_and_names_no_file_and_no_variable(name, value):
    with pytest.raises(InputError, match=r"is not (the name of a parameter|a plain value)"):
        check_parameters(replace(base(), kernel=GuestKernel(parameters={name: value})))


def test_parameters_are_not_too_long():
    with pytest.raises(InputError, match=r"kernel\.parameters: 600 letters are too many: give at most 512"):
        check_parameters(base(**{f"p{number}": "x" * 197 for number in range(3)}))


def test_they_have_a_fixed_order_after_init():
    assert arguments({"b": 1, "a.c": "x", "flag": ""}) == ["a.c=x", "b=1", "flag"]
    plain, more = kernel_arguments(base()), kernel_arguments(base(um_cycles=0, initcall_debug=""))
    start = 1 + next(place for place, argument in enumerate(plain) if argument.startswith("init="))
    assert more == [*plain[:start], "initcall_debug", "um_cycles=0", *plain[start:]]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f'Unknown kernel command line parameters "um_cycel=0 {ENVIRONMENT}", will be passed', "um_cycel"),
        (f'Unknown kernel command line parameters "flag {ENVIRONMENT}", will be passed', "flag"),
        ('Unknown kernel command line parameters "flag", will be passed to user space.', "flag"),
        ("Booting kernel: `maybe' invalid for parameter `um_cycles'", "um_cycles"),
        ("Booting kernel: `' too large for parameter `a.b'", "a.b"),
    ],
)
def test_what_the_kernel_did_not_take_is_named(tmp_path, line, name):
    console = tmp_path / "console.log"
    console.write_text(f"[    0.000000] Linux version\n[    0.000000] {line}\n[    0.000000] more\n")
    given = ["um_cycel=0", "flag", "um_cycles=maybe", "a.b=1"]
    with pytest.raises(WblabError) as raised:
        check_taken(given, console)
    said = f"the guest's kernel does not know or cannot read kernel.parameters.{name}: correct or remove it"
    assert str(raised.value) == said
    check_taken([], console)
    check_taken(["other=1"], console)


def test_what_the_lab_itself_leaves_to_the_program_is_no_mistake(tmp_path):
    console = tmp_path / "console.log"
    console.write_text(f'[0] Unknown kernel command line parameters "{ENVIRONMENT}", will be passed to user space.\n')
    check_taken(["um_cycles=0"], console)


TEXTS = b"\0um_cycles\0time-travel-start=\0\x07ext4.mb_scan\0printk.devkmsg=\0hello um_none \0"


@pytest.mark.parametrize(
    ("name", "there"),
    [
        *[("um_cycles", True), ("um-cycles", True), ("time_travel-start", True), ("ext4.mb_scan", True)],
        *[("printk.devkmsg", True), ("um_cycle", False), ("m_cycles", False), ("um_cycless", False)],
        *[("xt4.mb_scan", False), ("mb_scan", False), ("um_none", False), ("ext4xmb_scan", False), ("+", False)],
    ],
)
def test_a_parameter_is_a_whole_text_of_the_executable(tmp_path, name, there):
    (tmp_path / "linux").write_bytes(TEXTS)
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", (), "f00", "source", "gcc")
    assert may_take(kernel, name) is there
