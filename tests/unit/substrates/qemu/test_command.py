"""What QEMU is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.substrates.qemu.command import EmulatedMachine, arguments, memory_bytes

MIB = 1 << 20
KERNEL = Path("/a kernel/vmlinuz")


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def test_virtual_time_is_that_of_instructions_on_one_thread():
    words = arguments(EmulatedMachine(processors=4), KERNEL, 512 * MIB)
    assert option(words, "-icount") == "shift=2,sleep=off"
    assert "thread=single" in option(words, "-accel")
    assert option(words, "-rtc").endswith("clock=vm")
    assert (option(words, "-smp"), option(words, "-m"), option(words, "-kernel")) == ("4", "512M", str(KERNEL))


@pytest.mark.parametrize("accelerator", ["tcg", "kvm"])
def test_the_hosts_clock_needs_no_instructions(accelerator):
    words = arguments(EmulatedMachine(2, accelerator, virtual=False), KERNEL, 512 * MIB)
    assert "-icount" not in words
    assert "-rtc" not in words
    assert option(words, "-accel").partition(",")[0] == accelerator


def test_it_has_no_network_no_monitor_and_no_file_but_those_that_it_inherits():
    words = arguments(EmulatedMachine(), KERNEL, 512 * MIB)
    assert "-nodefaults" in words
    assert "-no-user-config" in words
    assert {"-monitor", "-netdev", "-nic", "-drive", "-virtfs", "-fsdev", "-qmp"} & {*words} == set()
    assert option(words, "-sandbox").startswith("on,")
    paths = [word for word in words if "path=" in word] + [option(words, "-initrd")]
    assert len(paths) == 4
    assert all("/proc/self/fd/" in path or "path=/dev/fdset/1" in path for path in paths)


def test_the_command_does_not_depend_on_the_run():
    assert arguments(EmulatedMachine(), KERNEL, MIB) == arguments(EmulatedMachine(), KERNEL, MIB)
    append = option(arguments(EmulatedMachine(), KERNEL, MIB), "-append")
    assert " nokaslr " in append
    assert len(append) < 2048  # COMMAND_LINE_SIZE of x86


def test_the_memory_is_in_whole_mib_and_grows_with_what_is_taken_before_the_loads():
    spec = read_spec(SPECS.find("two-disks"), ["memory=100MiB"])
    silent = replace(spec, trace=replace(spec.trace, events=()))
    least = memory_bytes(silent, EmulatedMachine(), 0)
    assert least > 100 * MIB
    assert memory_bytes(silent, EmulatedMachine(8), 0) == least
    assert memory_bytes(silent, EmulatedMachine(), 10 * MIB + 1) == least + 21 * MIB
    one, two = (memory_bytes(spec, EmulatedMachine(number), 0) for number in (1, 2))
    assert abs(two - one - spec.trace.buffer) < MIB
    assert all(size % MIB == 0 for size in (least, one, two))
