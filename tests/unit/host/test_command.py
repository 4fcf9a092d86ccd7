import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.core.spec import Clock
from wblab.host.command import interpreter, kernel_arguments, model_parameters
from wblab.host.guestmemory import boot_bytes
from wblab.lab.places import PRESETS, ROOT
from wblab.lab.specfile import read_spec

BASE = read_spec(PRESETS / "base.toml")
DEVICE = read_spec(PRESETS / "base-device.toml")
REAL = replace(BASE, clock=Clock(mode="real"))


def named(arguments, start):
    return [argument for argument in arguments if argument.startswith(start)]


def test_arguments_hold_neither_name_nor_path_nor_date():
    text = " ".join(kernel_arguments(replace(BASE, name="a-telling-name").on("/a/telling/path")))
    for word in ("telling", str(ROOT), str(Path.home()), os.getcwd(), time.strftime("%Y-"), "/tmp", "/dev/shm"):
        assert word not in text


def test_name_and_kernel_and_loads_change_no_argument():
    assert kernel_arguments(replace(BASE, name="other", load={}).on("6.12")) == kernel_arguments(BASE)


def test_only_a_monitored_guest_has_a_channel_for_samples():
    added = [argument for argument in kernel_arguments(BASE, watched=True) if argument not in kernel_arguments(BASE)]
    assert added == ["con2=null,fd:16"]


def test_several_processors_are_asked_for_and_get_ring_buffers_of_their_own():
    one, four = (kernel_arguments(REAL, processors=number) for number in (1, 4))
    assert named(one, "ncpus") == []
    assert named(four, "ncpus") == ["ncpus=4"]
    assert boot_bytes(REAL, 5) > boot_bytes(REAL) + 3 * REAL.trace.buffer


def test_the_seed_changes_the_kernels_seed_and_nothing_else():
    one, two = (kernel_arguments(replace(BASE, seed=seed)) for seed in (1, 2))
    differing = [pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]]
    assert len(differing) == 1
    assert all(re.fullmatch(r"um_seed=\d+", argument) for argument in differing[0])
    assert int(differing[0][0].partition("=")[2]) < 2**64


def test_virtual_time_has_a_start_and_a_cost_per_system_call():
    arguments = kernel_arguments(replace(BASE, clock=Clock(syscall_cost=7)))
    assert "time-travel=inf-cpu" in arguments
    assert "tt_syscall_ns=7" in arguments
    assert named(arguments, "time-travel-start=") == ["time-travel-start=1700000000000000000"]


@pytest.mark.parametrize("start", ["time-travel", "tt_syscall_ns", "um_seed"])
def test_the_real_clock_has_no_arguments_of_the_virtual_clock(start):
    assert named(kernel_arguments(BASE), start)
    assert not named(kernel_arguments(REAL), start)


def test_only_the_device_model_has_parameters_of_the_disk():
    assert not named(kernel_arguments(BASE), "ubd.")
    queue = ["ubd.queue_depth=64", "ubd.max_hw_sectors=1024", "ubd.max_segments=128"]
    own = ["ubd.latency_ns=50000", "ubd.bytes_per_second=1048576"]
    assert named(kernel_arguments(DEVICE), "ubd.") == [*own, *queue]


def test_several_disks_have_a_device_and_a_value_each():
    slow, fast = BASE.disk["disk"], replace(DEVICE.disk["disk"], write_bps=7)
    arguments = kernel_arguments(replace(BASE, disk={"slow": slow, "fast": fast}))
    assert named(arguments, "ubd0=") + named(arguments, "ubd1=") == ["ubd0=/proc/self/fd/12", "ubd1=/proc/self/fd/17"]
    assert named(arguments, "ubd.") == [
        *("ubd.latency_ns=0,50000", "ubd.bytes_per_second=0,7"),
        *("ubd.queue_depth=0,64", "ubd.max_hw_sectors=0,1024", "ubd.max_segments=0,128"),
    ]


def test_unset_parameters_of_a_device_are_left_out():
    disk = replace(DEVICE.disk["disk"], depth=4, cache_bytes=1 << 20, drain_bps=1000, stalls="random")
    assert named(kernel_arguments(replace(DEVICE, disk={"disk": disk})), "ubd.")[2:6] == [
        *("ubd.depth=4", "ubd.stall_random=1", "ubd.cache_bytes=1048576", "ubd.drain_bytes_per_second=1000")
    ]


def test_each_disk_has_its_place_in_the_lists():
    disks = [BASE.disk["disk"], DEVICE.disk["disk"], replace(DEVICE.disk["disk"], seek_time=7)]
    assert model_parameters(disks) == {
        "ubd.latency_ns": [0, 50_000, 50_000],
        "ubd.bytes_per_second": [0, 1 << 20, 1 << 20],
        "ubd.seek_ns": [0, 0, 7],
        "ubd.queue_depth": [0, 64, 64],
        "ubd.max_hw_sectors": [0, 1024, 1024],
        "ubd.max_segments": [0, 128, 128],
    }


def test_memory_is_the_specs_and_what_the_kernel_takes():
    assert kernel_arguments(BASE)[0] == f"mem={boot_bytes(BASE)}"
    assert boot_bytes(BASE) > BASE.memory


def test_init_is_the_interpreter_with_the_program_and_no_site():
    arguments = kernel_arguments(BASE)
    split = arguments.index("--")
    assert arguments[split + 1 :] == ["-S", "-s", "-B", "/proc/self/fd/11/experiment.pyz"]
    assert f"init={interpreter()}" in arguments[:split]
    assert "PYTHONHASHSEED=0" in arguments[:split]


def test_the_interpreter_is_a_real_python_of_a_known_version():
    path = interpreter()
    assert os.path.realpath(path) == path
    done = subprocess.run(
        [path, "-c", "import sys; print(sys.version_info >= (3, 11))"], check=True, capture_output=True, text=True
    )
    assert done.stdout == "True\n"


def test_a_missing_python_for_the_guest_is_reported():
    with pytest.raises(InputError, match=r"no Python 3\.99 or later for the guest: install python3"):
        interpreter((3, 99))
