"""Files at places where a stranger may have put something: a copied run, a guest's directory.

Reading takes regular files of a bounded size and follows no link. Writing makes a new file and gives it the name at the
end: what had that name, a link too, is replaced and never written through. Directories above are taken as they are.
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
_NAME_BYTES = 64  # of the name that is kept in a temporary one: names have an end, at 255 bytes
_INTEGERS = range(-(1 << 63), 1 << 64)  # what arrays and the kernel know; Python's own have no end


def open_file(path: Path, *, follow: bool = False) -> BinaryIO:
    """Open a regular file for reading; a link only with `follow`. Raises OSError, whose strerror says what it is."""
    links = 0 if follow else os.O_NOFOLLOW
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    except ValueError as error:  # NUL in the name
        raise OSError(EINVAL, str(error)) from None
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "it is a link, and a link is not followed here: put the file itself there") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is no regular file")
    return open(descriptor, "rb")


def is_file(path: Path) -> bool:
    """Whether `open_file` would find a regular file: False for a link, and where it cannot be known."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, most_bytes: int, *, follow: bool = False) -> bytes:
    """Return what is in a regular file. Raises OSError, for one that is too long too."""
    with open_file(path, follow=follow) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(EFBIG, f"it is longer than {format_bytes(most_bytes)}")
    return content


def read_json(path: Path, most_bytes: int = MOST_JSON_BYTES) -> Any:
    """Return what is in a JSON file. Raises OSError, and ValueError for what is no JSON; see `parse_json`."""
    return parse_json(read_bytes(path, most_bytes))


def parse_json(content: bytes) -> Any:
    """Return a JSON value as RFC 8259 has it, of numbers that fit in 64 bits and of texts that can be written again.

    Raises ValueError.
    """
    try:
        value = json.loads(content, parse_int=_integer, parse_float=_float, parse_constant=_constant)
        _check(value, _DEEPEST)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def parse_toml(content: bytes) -> dict[str, Any]:
    """Return a TOML table, of the same numbers and as deep as JSON may be. Raises ValueError."""
    import tomllib  # a guest, which reads none, would take time and memory for it

    try:
        value = tomllib.loads(content.decode())
        _check(value, _DEEPEST)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, which takes the name `path` when the block ends, and is gone if it fails. Raises OSError.

    What is there under that name is replaced if it is a file or a link to one; devices and the like are left alone.
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
    """Raise OSError for a name that stands for something else than a file: root could replace /dev/null."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == ELOOP:  # a link to itself
            return
        raise
    if not stat.S_ISREG(there.st_mode) or path.parent.resolve() == Path("/dev"):
        raise OSError(EINVAL, "it is no regular file: give another name")


def _check(value: object, room: int) -> None:
    """Raise ValueError for what is nested too deeply, numbers without end, and halves of characters."""
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
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if number - number:  # infinite
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
