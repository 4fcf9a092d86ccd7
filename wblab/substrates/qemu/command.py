"""The command line of QEMU, and of the kernel in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.core import layout
from wblab.core.entry import host_path
from wblab.core.spec import Spec
from wblab.host.command import interpreter
from wblab.substrates.qemu.initramfs import PROGRAM

LEFT_FD, INITRAMFS_FD = layout.DISK_FDS[:2]
CONSOLE_FD = layout.SAMPLES_FD
# An instruction takes 2**2 ns, and a processor that sleeps takes no time of the host (qemu(1), -icount).
_ICOUNT = ("-icount", "shift=2,sleep=off", "-rtc", "base=2023-11-14T22:13:20,clock=vm")
_MIB = 1 << 20
# What the guest takes until the loads start, about: a kernel for any machine, its modules, and Python.
_SET_UP_BYTES = 256 << 20
_TRACE_BYTES = 128 << 20


@dataclass(frozen=True)
class Machine:
    """The machine that QEMU is. accelerator: tcg or kvm. virtual: its time is that of its own instructions."""

    processors: int = 1
    accelerator: str = "tcg"
    virtual: bool = True


def memory_bytes(spec: Spec, machine: Machine, initramfs_bytes: int) -> int:
    """Return the memory of the machine: the spec's, and what is taken before the loads start."""
    # The ring buffers of all processors, and the trace that is read from them meanwhile.
    trace = _TRACE_BYTES + spec.trace.buffer * machine.processors if spec.trace.events else 0
    total = spec.memory + 2 * initramfs_bytes + trace + _SET_UP_BYTES
    return -(-total // _MIB) * _MIB


def arguments(machine: Machine, kernel: Path, memory: int) -> list[str]:
    """Return QEMU's arguments. The descriptors of its ports and of the guest's root are inherited."""
    threads = ",thread=single" if machine.virtual else ",thread=multi"
    accelerator = f"tcg,tb-size=192{threads}" if machine.accelerator == "tcg" else machine.accelerator
    clock = _ICOUNT if machine.virtual else ()
    return [
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35"),
        *("-cpu", "qemu64" if machine.accelerator == "tcg" else "host", "-accel", accelerator),
        *("-m", f"{memory // _MIB}M", "-smp", str(machine.processors)),
        *clock,
        *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"),
        *("-add-fd", f"fd={CONSOLE_FD},set=1", *_port("console", "/dev/fdset/1")),
        *_port("status", host_path(layout.STATUS_FD)),
        *_port("left", host_path(LEFT_FD)),
        *("-kernel", str(kernel), "-initrd", host_path(INITRAMFS_FD), "-append", " ".join(_kernel_arguments())),
    ]


def _port(name: str, path: str) -> Sequence[str]:
    """Return the arguments for a serial port whose bytes are added to a file.

    Unlike standard output, a file never waits: so nothing of the host's clock reaches the guest.
    """
    return ("-chardev", f"file,id={name},path={path},append=on", "-serial", f"chardev:{name}")


def _kernel_arguments() -> Sequence[str]:
    environment = {"PYTHONPATH": PROGRAM, "PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC0"}
    return [
        *("console=ttyS0", "panic=-1", "loglevel=4", "mitigations=off", "nokaslr", "norandmaps", "no_timer_check"),
        f"rdinit={interpreter()}",
        *(f"{name}={value}" for name, value in environment.items()),
        *("--", "-S", "-s", "-B", PROGRAM),
    ]
