"""A spec as TOML that somebody would write: only what differs from the defaults, with units. It reads back the same."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from wblab.core import units
from wblab.core.errors import InputError
from wblab.core.files import parse_toml, read_bytes
from wblab.core.loads import Load
from wblab.core.spec import Spec

# TOML files that people write.

_MOST_BYTES = 8 << 20


def read_toml(path: Path, what: str, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """Return the table in a file of the user's; `what` it is says a message. Raises InputError."""
    try:
        return parse_toml(read_bytes(path, most_bytes, follow=True))
    except OSError as error:
        raise InputError(f"cannot read the {what} {str(path)!r}: {error.strerror}") from None
    except ValueError as error:  # also TOMLDecodeError, UnicodeDecodeError
        raise InputError(f"{str(path)!r} is not a TOML file: {error}") from None


_BARE = re.compile(r"[A-Za-z0-9_-]+")
FORMATS: dict[Any, Callable[[int], str]] = {
    units.Bytes: units.format_bytes,
    units.Nanoseconds: units.format_time,
    units.BytesPerSecond: lambda value: f"{units.format_bytes(value)}/s",
}


def spec_toml(spec: Spec) -> str:
    """Return a spec as TOML: its own keys, then a table for each part."""
    return "\n".join(_table(spec, ())).strip() + "\n"


def default_of(field: "Field[Any]") -> Any:
    """Return a field's default; MISSING if it has none."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def measured(hint: Any, value: Any) -> Any:
    """Return a value with its unit, as texts of specs have it: 4194304 bytes are '4 MiB'."""
    return FORMATS[hint](value) if hint in FORMATS else value


def _table(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a dataclass: keys first, since in TOML they belong to the table above them."""
    hints = get_type_hints(type(value))
    own = [field for field in fields(value) if getattr(value, field.name) != default_of(field)]
    is_table = {field.name: _is_table(getattr(value, field.name)) for field in own}
    lines = [f"kind = {json.dumps(value.kind)}"] if isinstance(value, Load) else []
    lines += [
        f"{field.name} = {_text(hints[field.name], getattr(value, field.name))}"
        for field in own
        if not is_table[field.name]
    ]
    if path and (lines or not any(is_table.values())):
        yield f"\n[{'.'.join(map(_key, path))}]"
    yield from lines
    for field in own:
        if is_table[field.name]:
            yield from _part(getattr(value, field.name), (*path, field.name))


def _part(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if is_dataclass(value):
        yield from _table(value, path)
    elif any(map(is_dataclass, value.values())):
        for name, item in value.items():
            yield from _table(item, (*path, name))
    else:
        yield f"\n[{'.'.join(map(_key, path))}]"
        yield from (f"{_key(key)} = {_text(None, item)}" for key, item in value.items())


def _is_table(value: object) -> bool:
    return is_dataclass(value) or isinstance(value, Mapping)


def _text(hint: Any, value: Any) -> str:
    if isinstance(value, list | tuple):
        of = (getattr(hint, "__args__", None) or (None,))[0]
        return f"[{', '.join(_text(of, item) for item in value)}]"
    # JSON's strings are TOML's, except for DEL.
    return json.dumps(measured(hint, value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
