"""TOML files that people write."""

from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.files import parse_toml, read_bytes

_MOST_BYTES = 8 << 20


def read_toml(path: Path, what: str, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """Return the table in a file of the user's; `what` it is says a message. Raises InputError."""
    try:
        return parse_toml(read_bytes(path, most_bytes, follow=True))
    except OSError as error:
        raise InputError(f"cannot read the {what} {str(path)!r}: {error.strerror}") from None
    except ValueError as error:  # also TOMLDecodeError, UnicodeDecodeError
        raise InputError(f"{str(path)!r} is not a TOML file: {error}") from None
