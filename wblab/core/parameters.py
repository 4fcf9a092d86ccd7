"""Checks of parameters that several kinds of load have; `key` is the parameter's name, for messages."""

from pathlib import PurePosixPath

from wblab.core.errors import InputError
from wblab.core.units import Bytes, Nanoseconds, format_bytes

_MOST_BLOCK_BYTES = 16 << 20
_SECTOR_BYTES = 512


def check_file(key: str, file: str) -> None:
    """Raise InputError for what is no file inside the mount."""
    path = PurePosixPath(file)
    if not file or "\0" in file or path.is_absolute() or ".." in path.parts or path == PurePosixPath("."):
        raise InputError(f"{key}: {file!r} must be a file inside the mount: a relative path without '..'")


def check_block(key: str, block: Bytes) -> None:
    """Raise InputError for what cannot be written at once."""
    if not 0 < block <= _MOST_BLOCK_BYTES:
        raise InputError(f"{key}: give between 1 and {format_bytes(_MOST_BLOCK_BYTES)}")


def check_whole_blocks(key: str, size: Bytes, block: Bytes) -> None:
    """Raise InputError for a file that is not made of whole blocks."""
    if size <= 0 or size % block:
        raise InputError(f"{key}: {format_bytes(size)} is not a multiple of block, {format_bytes(block)}")


def check_direct(key: str, block: Bytes) -> None:
    """Raise InputError for what cannot be read or written around the page cache: no disk has smaller sectors."""
    if block % _SECTOR_BYTES:
        raise InputError(f"{key}: {format_bytes(block)} is not a multiple of {_SECTOR_BYTES} bytes, as O_DIRECT needs")


def check_idle(key: str, idle: Nanoseconds) -> None:
    """Raise InputError for a load that would not sleep between its cycles."""
    if idle <= 0:
        raise InputError(f"{key}: must be longer than 0: a load that never sleeps is an offender")


def check_wait(key: str, wait: Nanoseconds) -> None:
    """Raise InputError for a wait that ends before it begins."""
    if wait < 0:
        raise InputError(f"{key}: {wait} is negative")


def check_iolevel(place: str, level: int) -> None:
    """Raise InputError for a level of I/O priority that ioprio_set(2) does not have; `place` stands before its key."""
    if not 0 <= level <= 7:
        raise InputError(f"{place}iolevel: {level} is not between 0 and 7")


def check_argv(key: str, argv: tuple[str, ...]) -> None:
    """Raise InputError for what is no program with its arguments."""
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise InputError(f'{key}: give a program and its arguments, for example ["wblab", "--version"]')
