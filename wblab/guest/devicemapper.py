"""The device mapper, by ioctls on /dev/mapper/control (include/uapi/linux/dm-ioctl.h). All raise OSError."""

import os
import struct
from fcntl import ioctl

_CONTROL = "/dev/mapper/control"
_HEADER = struct.Struct("=3I2IIiII4xQ128s129s7x")  # struct dm_ioctl
_TARGET = struct.Struct("=QQiI16s")  # struct dm_target_spec; its parameters follow
_VERSION = (4, 0, 0)
_CREATE, _SUSPEND, _LOAD, _MESSAGE = 3, 6, 9, 14  # the enum of commands
_IOWR, _TYPE = 3 << 30, 0xFD << 8
_WITHOUT_FREEZING = 1 << 10 | 1 << 11  # DM_SKIP_LOCKFS_FLAG, DM_NOFLUSH_FLAG


def create(name: str, target: str, sectors: int, parameters: str) -> None:
    """Make a device with one target; it gets the first free number."""
    _command(_CREATE, name)
    change(name, target, sectors, parameters)


def change(name: str, target: str, sectors: int, parameters: str) -> None:
    """Replace a device's target, also while it is in use. Requests to the old target complete first."""
    text = parameters.encode() + b"\0"
    text += bytes(-len(text) % 8)
    _command(_LOAD, name, _TARGET.pack(0, sectors, 0, 0, target.encode()) + text, targets=1)
    _command(_SUSPEND, name, flags=_WITHOUT_FREEZING)  # without DM_SUSPEND_FLAG: resume, with the new table


def message(name: str, text: str) -> None:
    """Send a message to a device's target."""
    _command(_MESSAGE, name, struct.pack("=Q", 0) + text.encode() + b"\0")


def _command(number: int, name: str, data: bytes = b"", *, targets: int = 0, flags: int = 0) -> None:
    size = _HEADER.size + len(data)
    header = _HEADER.pack(*_VERSION, size, _HEADER.size, targets, 0, flags, 0, 0, name.encode(), b"")
    control = os.open(_CONTROL, os.O_RDWR)
    try:
        ioctl(control, _IOWR | _HEADER.size << 16 | _TYPE | number, bytearray(header + data))
    finally:
        os.close(control)
