"""Parameters that a spec may give the guest's kernel: which, how they are written, and whether the kernel took them.

A spec may be somebody else's. What confines a guest does not depend on its command line: the host's kernel does that,
before the guest's reads it, and a guest that was taken over may do what any parameter makes its kernel do
(docs/explanation/safety.md). So all parameters are allowed except those the lab itself depends on, and those of
User Mode Linux that open devices, sockets or files of the host, which the host would refuse anyway.

Three rules keep a parameter what it is. Its name is in lower case, so it is no variable of the environment that the
guest's Python reads. Its value has no space, quote or line end, so one stays one. It has no slash, so it names no file.
"""

import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.kernels.kernel import Kernel

# Parameters of kernels, told by names in their executables.


@cache
def may_take(kernel: Kernel, parameter: str) -> bool:
    """Return whether a kernel may have a parameter: its executable holds the name as a whole text, also before `=`.

    Names of parameters are such texts (module_param, __setup and their like), and the kernel takes '-' for '_' in them.
    Others may be too: what is no parameter is then for the kernel to say. It says nothing of names with a dot.
    """
    name = re.sub(rb"[-_]", rb"[-_]", re.escape(parameter.encode()).replace(rb"\-", b"-"))
    with kernel.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        return re.search(rb"(?<![\w.-])" + name + rb"=?\0", image) is not None


_NAME = re.compile(r"[a-z][a-z0-9_.-]*")
_VALUE = re.compile(r"[A-Za-z0-9_.,:;+*=@!~^&|%<>()\[\]-]*")
_MOST_BYTES = 512  # of all: the kernel's message on those that it does not know must hold them (LOG_LINE_MAX)
_KEY = "kernel.parameters"

# What the lab says itself, and the key of a spec for it; the kernel takes '-' for '_'. Several are matched by their
# beginning, as User Mode Linux does.
_KEYS = {
    r"mem": "memory",
    r"time_travel.*": "clock.mode",
    r"tt_syscall_ns": "clock.syscall_cost",
    r"um_seed": "seed",
    r"(ubd|udb|fake_ide).*": "disk",
    r"brd\..*": "disk.model = 'ram'",
    r"sysctl\..*": "sysctl",
    r"ncpus": "kernel.name = '7.2+smp@4'",
}
_OWN = re.compile(
    "um_copies_fd|init|rdinit|root|rootfstype|rootflags|rootwait|rootdelay|ro|rw|seccomp|norandmaps|umid|noreboot.*|panic"
    "|quiet.*|loglevel|con.*|stderr"
)
# arch/um (__uml_setup, __setup, __channel_help), fs/hostfs: channels, devices, sockets and directories of the host.
_HOST = re.compile(
    r"hostfs|uml_dir|mconsole.*|ssl.*|eth.*|vec.*|xterm|dsp|mixer|hostaudio\..*|dtb|initrd|iomem"
    r"|(virtio_uml|uml_vfio|um_pci|virtio_pcidev)\..*"
)

_UNKNOWN = re.compile(r'Unknown kernel command line parameters "(.*)')  # print_unknown_bootoptions() in init/main.c
_INVALID = re.compile(r"`[^`]*' (?:invalid|too large) for parameter `([^`']*)'")  # parse_args() in kernel/params.c
_MOST_CONSOLE_BYTES = 1 << 18  # the lines are among the first


def check_parameters(spec: Spec) -> None:
    """Raise InputError for a parameter that the lab sets by another key, or that is none for the guest's kernel."""
    for name, value in spec.kernel.parameters.items():
        key, plain = f"{_KEY}.{name}", name.replace("-", "_")
        if own := next((own for pattern, own in _KEYS.items() if re.fullmatch(pattern, plain)), None):
            raise InputError(f"{key}: the lab sets this parameter by the spec's {own}: give that instead")
        if _OWN.fullmatch(plain):
            raise InputError(f"{key}: the lab needs its own value of this parameter: remove it")
        if _HOST.fullmatch(plain):
            raise InputError(f"{key}: this parameter is for devices and files of the host: remove it")
        if not _NAME.fullmatch(name):
            raise InputError(f"{key}: {name!r} is not the name of a parameter: write for example um_cycles")
        if not _VALUE.fullmatch(str(value)):
            raise InputError(f"{key}: {value!r} is not a plain value: give one without spaces, quotes and '/'")
    if (length := sum(map(len, arguments(spec.kernel.parameters)))) > _MOST_BYTES:
        raise InputError(f"{_KEY}: {length} letters are too many: give at most {_MOST_BYTES}")


def arguments(parameters: Mapping[str, int | str]) -> list[str]:
    """Return parameters as the kernel reads them, in a fixed order."""
    return [f"{name}={value}" if (value := parameters[name]) != "" else name for name in sorted(parameters)]


def check_taken(parameters: Sequence[str], console: Path) -> None:
    """Raise WblabError for arguments that the kernel did not know or could not read, as its console says."""
    if not parameters:
        return
    with console.open("rb") as file:
        text = file.read(_MOST_CONSOLE_BYTES).decode(errors="replace")
    if refused := set(_refused(text)) & {*parameters, *(argument.partition("=")[0] for argument in parameters)}:
        names = ", ".join(sorted({f"{_KEY}.{argument.partition('=')[0]}" for argument in refused}))
        raise WblabError(f"the guest's kernel does not know or cannot read {names}: correct or remove it")


def _refused(console: str) -> Iterator[str]:
    """Yield the arguments that a kernel did not know, and the names of those that it could not read."""
    for line in console.splitlines():
        if found := _UNKNOWN.search(line):
            yield from (word.removesuffix('",').strip('"') for word in found[1].split())
        yield from _INVALID.findall(line)
