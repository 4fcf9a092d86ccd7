"""The experiment as PID 1 of a stock kernel, up to power off."""

import base64
import json
import os
import zlib
from ctypes import c_char_p, c_ulong
from fcntl import ioctl
from functools import partial
from pathlib import Path
from typing import NoReturn

from wblab.core import layout
from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, checked, libc, mount, power_off
from wblab.core.tables import from_table
from wblab.guest.init import run, say
from wblab.guest.mounts import mount_all
from wblab.substrates.qemu.guest.agreed import QUEUES
from wblab.substrates.qemu.guest.disks import find_disks, make_disks, queues

MODULES, DISKS, TEXTS = Path("/wblab/modules"), Path("/wblab/disks"), Path("/wblab/texts")
STATUS_PORT, LEFT_PORT = "ttyS1", "ttyS2"
_TCSBRK = 0x5409  # tcdrain(3)
_INIT_MODULE = 175  # arch/x86/entry/syscalls/syscall_64.tbl


def main() -> NoReturn:
    """Run the experiment and power off, whatever happens."""
    status = None
    try:
        mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV)
        os.makedirs(layout.SCRATCH)
        mount_all()
        os.environ.pop("PYTHONPATH", None)
        status = os.open(f"/dev/{STATUS_PORT}", os.O_WRONLY | os.O_NOCTTY)
        say(status, "mounts")
        load_modules(MODULES)
        parameters = json.loads((TEXTS / layout.PARAMETERS).read_text())
        spec = from_table(Spec, parameters["spec"], exact=True)
        for path in TEXTS.iterdir():
            (layout.SCRATCH / path.name).write_bytes(path.read_bytes())
        progress = partial(say, status, "disk")
        if DISKS.exists():
            make_disks(spec, DISKS, progress)
        else:
            find_disks(spec, progress)
        run(spec, parameters, status)
        (layout.SCRATCH / QUEUES).write_text(json.dumps(queues(spec)))
    except BaseException as error:
        reason = str(error) if isinstance(error, WblabError) else f"{type(error).__name__} in the guest: {error}"
        if status is not None:
            say(status, "failed", reason=reason)
        import traceback

        traceback.print_exc()
    finally:
        try:
            hand_over()
        finally:
            if status is not None:
                say(status, "power off")
                ioctl(status, _TCSBRK, 1)  # until the port has sent it: its interrupts may be another processor's
            power_off()
    raise AssertionError("the guest is still on")


def load_modules(directory: Path) -> None:
    """Load the modules in a directory, in the order of their names. Raises WblabError."""
    for path in sorted(directory.iterdir()):
        load_module(path)


def load_module(path: Path) -> None:
    """Load a module of the kernel. Raises WblabError."""
    data = path.read_bytes()
    try:
        checked(libc.syscall(_INIT_MODULE, data, c_ulong(len(data)), c_char_p(b"")))
    except FileExistsError:
        pass
    except OSError as error:
        raise WblabError(f"cannot load the module {path.name}: {error.strerror}") from None


def hand_over() -> None:
    """Write what the run left to the serial port of results: each file behind its name and length, packed, as text.

    A disk would be faster, but its device answers by the host's clock: no run would repeat.
    """
    files = [path for path in sorted(layout.SCRATCH.iterdir()) if path.is_file()]
    parts = [b"%s %d\n%s" % (path.name.encode(), len(data), data) for path in files for data in [path.read_bytes()]]
    with Path(f"/dev/{LEFT_PORT}").open("wb") as port:
        port.write(base64.encodebytes(zlib.compress(b"".join(parts))))


if __name__ == "__main__":
    main()
