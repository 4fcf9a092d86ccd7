"""What QEMU is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels.stock.drivers import MODULES_OF
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.substrates.qemu.command import EmulatedMachine, arguments, check, memory_bytes
from wblab.substrates.qemu.devices import check_devices, image_bytes

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


def test_a_disk_by_a_driver_is_a_device_in_a_slot_of_its_own_with_its_rate():
    slow, fast = read_spec(SPECS.find("two-disks")).disk.values()
    for driver in MODULES_OF:
        words = arguments(
            EmulatedMachine(virtual=False, driver=driver), KERNEL, MIB, [slow, replace(fast, model="throttle")]
        )
        drives = [words[place + 1] for place, word in enumerate(words) if word == "-drive"]
        assert [drive.partition("bps-total=")[2] for drive in drives] == [
            str(1 * MIB),
            "",
        ]  # blkio throttles the second
        assert all(drive.startswith("file=/proc/self/fd/") for drive in drives)
        devices = " ".join(words[place + 1] for place, word in enumerate(words) if word == "-device")
        assert all(devices.count(text) == 1 for text in ("addr=0x10", "addr=0x11", "drive=disk0", "drive=disk1"))


def test_credits_are_a_burst_of_whole_seconds():
    volume = read_spec(SPECS.find("burst"))
    words = arguments(EmulatedMachine(virtual=False, driver="sata"), KERNEL, MIB, [*volume.disk.values()])
    drive = option(words, "-drive")
    assert drive.endswith(
        f"throttling.bps-total={2 * MIB},throttling.bps-total-max={32 * MIB},throttling.bps-total-max-length=2"
    )
    with pytest.raises(InputError, match="burst_bytes=64 MiB: a disk without its driver cannot have that in QEMU"):
        check(volume)
    for held in ("32MiB", "80MiB"):
        with pytest.raises(InputError, match="credits are for 2, 3 or more whole seconds at 32 MiB/s"):
            check(read_spec(SPECS.find("burst"), [f"disk.burst_bytes={held}"]), "sata")


def test_an_sd_card_has_a_power_of_two():
    assert [image_bytes("sd", size) for size in (130 * MIB, 128 * MIB)] == [256 * MIB, 128 * MIB]
    assert image_bytes("sata", 130 * MIB + 1) == 130 * MIB + 512


def test_a_qemu_without_a_device_is_refused(tmp_path):
    emulator = tmp_path / "qemu"
    emulator.write_text("#!/bin/sh\necho 'name \"usb-uas\", bus usb-bus'\necho 'name \"qemu-xhci\", bus PCI'\n")
    emulator.chmod(0o755)
    with pytest.raises(InputError, match="has no device scsi-hd, which uas needs: install one that has it"):
        check_devices(str(emulator), "uas")


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
