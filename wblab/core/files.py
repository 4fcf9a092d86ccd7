"""Read and replace files in untrusted directories, such as a copied run or a guest's directory.

Reading accepts only regular files of a bounded size and follows no link. Writing makes a new file and renames it at
the end, which replaces an old file or link and never writes through it. Parent directories are trusted.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EFBIG, EINVAL, ELOOP
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from wblab.core.units import format_bytes

MOST_JSON_BYTES = 8 << 20
_DEEPEST = 64
_NAME_BYTES = 64  # how much of a name its temporary file's name keeps: a name has at most 255 bytes
_INTEGERS = range(-(1 << 63), 1 << 64)  # the range of arrays and of the kernel; Python's integers are unbounded


def open_file(path: Path, *, follow: bool = False) -> BinaryIO:
    """Open a regular file for reading; a link only with `follow`. Raises OSError, whose strerror gives the reason."""
    links = 0 if follow else os.O_NOFOLLOW
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    except ValueError as error:  # NUL in the name
        raise OSError(EINVAL, str(error)) from None
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "it is a link, which is not followed here: replace it with the file itself") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is not a regular file")
    return open(descriptor, "rb")


def is_file(path: Path) -> bool:
    """Whether `path` is a regular file: False for a link, or if it cannot be examined."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, most_bytes: int, *, follow: bool = False) -> bytes:
    """Return the content of a regular file. Raises OSError, also if it is longer than `most_bytes`."""
    with open_file(path, follow=follow) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(EFBIG, f"it is longer than {format_bytes(most_bytes)}")
    return content


def read_json(path: Path, most_bytes: int = MOST_JSON_BYTES) -> Any:
    """Return the value in a JSON file. Raises OSError, and ValueError as `parse_json` does."""
    return parse_json(read_bytes(path, most_bytes))


def parse_json(content: bytes) -> Any:
    """Parse JSON (RFC 8259) whose numbers fit in 64 bits and whose strings are valid Unicode.

    Raises ValueError.
    """
    try:
        value = json.loads(content, parse_int=_integer, parse_float=_float, parse_constant=_constant)
        _check(value, _DEEPEST)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse TOML, with the limits of `parse_json`. Raises ValueError."""
    import tomllib  # imported here, as a guest reads no TOML

    try:
        value = tomllib.loads(content.decode())
        _check(value, _DEEPEST)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, which is renamed to `path` when the block ends and removed if it fails. Raises OSError.

    An existing file, or a link to one, is replaced; devices and other special files are not.
    """
    _check_replaceable(path)
    kept = path.name.encode(errors="surrogateescape")[:_NAME_BYTES].decode(errors="ignore")
    partial = path.with_name(f".{kept}.{os.urandom(8).hex()}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _check_replaceable(path: Path) -> None:
    """Raise OSError for a special file: root could replace /dev/null."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == ELOOP:  # a link to itself
            return
        raise
    if not stat.S_ISREG(there.st_mode) or path.parent.resolve() == Path("/dev"):
        raise OSError(EINVAL, "it is not a regular file: give another name")


def _check(value: object, room: int) -> None:
    """Raise ValueError for values that are nested too deeply, integers over 64 bits and lone surrogates."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, int) and value not in _INTEGERS:
        raise ValueError("a number needs more than 64 bits")
    elif isinstance(value, list | dict):
        if not room:
            raise ValueError("it is nested too deeply")
        for item in value:
            _check(item, room - 1)
        if isinstance(value, dict):
            for item in value.values():
                _check(item, room - 1)


def _integer(text: str) -> int:
    if len(text) > 20:  # int() takes quadratic time
        raise ValueError(f"a number has {len(text)} digits and needs more than 64 bits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if number - number:  # infinite
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not valid JSON")
