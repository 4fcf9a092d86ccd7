"""Checks of parameters that several kinds of load share; `key` is the parameter's name in messages."""

from pathlib import PurePosixPath

from wblab.core.errors import InputError
from wblab.core.units import Bytes, Nanoseconds, format_bytes

_MOST_BLOCK_BYTES = 16 << 20
_SECTOR_BYTES = 512


def check_file(key: str, file: str) -> None:
    """Raise InputError unless `file` is a path inside the mount."""
    path = PurePosixPath(file)
    if not file or "\0" in file or path.is_absolute() or ".." in path.parts or path == PurePosixPath("."):
        raise InputError(f"{key}: {file!r} must be a file inside the mount: a relative path without '..'")


def check_block(key: str, block: Bytes) -> None:
    """Raise InputError for a block that one system call cannot write."""
    if not 0 < block <= _MOST_BLOCK_BYTES:
        raise InputError(f"{key}: give between 1 B and {format_bytes(_MOST_BLOCK_BYTES)}")


def check_whole_blocks(key: str, size: Bytes, block: Bytes) -> None:
    """Raise InputError for a size that is not a positive number of whole blocks."""
    if size <= 0 or size % block:
        raise InputError(f"{key}: {format_bytes(size)} is not a multiple of block, {format_bytes(block)}: round it")


def check_direct(key: str, block: Bytes) -> None:
    """Raise InputError for a block that is not whole sectors, which O_DIRECT needs."""
    if block % _SECTOR_BYTES:
        raise InputError(
            f"{key}: {format_bytes(block)} is not a multiple of {_SECTOR_BYTES} bytes, which O_DIRECT needs"
        )


def check_idle(key: str, idle: Nanoseconds) -> None:
    """Raise InputError for a periodic load that never sleeps."""
    if idle <= 0:
        raise InputError(f"{key}: must be longer than 0; for a load that never sleeps, use an offender")


def check_wait(key: str, wait: Nanoseconds) -> None:
    """Raise InputError for a negative wait."""
    if wait < 0:
        raise InputError(f"{key}: {wait} is negative: give 0 or more")


def check_iolevel(place: str, level: int) -> None:
    """Raise InputError for an invalid level of I/O priority (ioprio_set(2)); `place` is the prefix of its key."""
    if not 0 <= level <= 7:
        raise InputError(f"{place}iolevel: {level} is not between 0 and 7 (0: highest)")


def check_argv(key: str, argv: tuple[str, ...]) -> None:
    """Raise InputError unless `argv` is a program with its arguments."""
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise InputError(f'{key}: give a program and its arguments, for example ["wblab", "--version"]')
