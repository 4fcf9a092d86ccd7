"""Convert nested tables (TOML, JSON) to frozen dataclasses and back, by the fields' types."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from wblab.core import units
from wblab.core.errors import InputError, nearest
from wblab.core.loads import KINDS, Load

Table = Mapping[str, Any]
T = TypeVar("T")

# Metadata of a field that maps names to dataclasses: the default name. A single item needs no name: `[disk]` means
# `[disk.disk]`.
DEFAULT_NAME = "default_name"
# Metadata of a field that holds a dataclass: its key that a plain string stands for. `kernel = "7.2"` means
# `kernel.name = "7.2"`.
PLAIN = "plain"

_UNITS = {
    units.Bytes: units.parse_bytes,
    units.BytesPerSecond: units.parse_rate,
    units.Nanoseconds: units.parse_time,
}


def from_table(cls: type[T], table: object, path: str = "", *, exact: bool = False) -> T:
    """Make a `cls` from a table.

    path: the table's key, for messages. exact: numbers are already in the fields' units, as `to_table` writes them.
    Raises InputError for an unknown key (and suggests the nearest), a missing key or a value of the wrong type.
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{path or 'the spec'} must be a table, not {table!r}")
    if cls is Load:
        cls, table = _load_class(table, path)
    hints = _hints(cls)  # type: ignore[arg-type]
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            raise InputError(f"unknown key {_join(path, key)!r}{nearest(key, list(known))}")
    values = {}
    for name, field in known.items():
        if name in table:
            where, default = _join(path, name), field.metadata.get(DEFAULT_NAME)
            read = partial(_named, default=default) if default else _value
            values[name] = read(hints[name], _full(field, table[name], where), where, exact)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{_join(path, name)!r} is missing: give it a value")
    return cls(**values)


def to_table(value: object) -> Any:
    """Return a dataclass as tables, lists, strings and whole numbers in the fields' units."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": value.kind} if isinstance(value, Load) else {}
        return kind | {field.name: to_table(_shortest(field, getattr(value, field.name))) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_table(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_table(item) for item in value]
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _load_class(table: Table, path: str) -> tuple[Any, Table]:
    kind = table.get("kind")
    if kind is None:
        raise InputError(f"{_join(path, 'kind')!r} is missing: choose from {', '.join(KINDS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"{_join(path, 'kind')}: unknown kind {kind!r}{nearest(str(kind), list(KINDS))}")
    return KINDS[kind], {key: item for key, item in table.items() if key != "kind"}


def _value(hint: Any, value: Any, path: str, exact: bool) -> Any:
    if hint in _UNITS and not (exact and isinstance(value, int)):
        return _measure(hint, value, path)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in arguments:
            suggestion = nearest(str(value), [str(argument) for argument in arguments])
            raise InputError(f"{path}: {value!r} is not one of {', '.join(map(str, arguments))}{suggestion}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise InputError(f"{path} must be a list, not {value!r}")
        return tuple(_value(arguments[0], item, path, exact) for item in value)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise InputError(f"{path} must be a table, not {value!r}")
        return {key: _value(arguments[1], item, _join(path, key), exact) for key, item in value.items()}
    if is_dataclass(hint):
        return from_table(hint, value, path, exact=exact)  # type: ignore[arg-type]
    return _plain(hint, value, path)


def _named(hint: Any, value: Any, path: str, exact: bool, *, default: str) -> Any:
    """Return dataclasses by name; a table without names is one item, with the default name."""
    cls = get_args(hint)[1]
    known = {field.name for field in fields(cls)}
    keys = value if isinstance(value, Mapping) else ()
    own = [key for key in keys if key in known]
    names = [key for key in keys if key not in known and isinstance(value[key], Mapping)]
    if own and names:
        raise InputError(
            f"{_join(path, own[0])!r} and the table {_join(path, names[0])!r} cannot stand together"
            f"{nearest(names[0], sorted(known))}: with names, write for example {_join(path, names[0])}.{own[0]}"
        )
    return _value(hint, value, path, exact) if names else {default: from_table(cls, value, path, exact=exact)}


def _full(field: Field[Any], value: Any, path: str) -> Any:
    """Return the table that a plain string stands for, where the field has one."""
    if not (plain := field.metadata.get(PLAIN)) or isinstance(value, Mapping):
        return value
    if not isinstance(value, str):
        raise InputError(f"{path} must be a string or a table, not {value!r}")
    return {plain: value}


def _shortest(field: Field[Any], value: Any) -> Any:
    if (plain := field.metadata.get(PLAIN)) and value == type(value)(**{plain: getattr(value, plain)}):
        return getattr(value, plain)
    default = field.metadata.get(DEFAULT_NAME)
    return value[default] if default and set(value) == {default} else value


def _plain(hint: Any, value: Any, path: str) -> Any:
    wanted = get_args(hint) if get_origin(hint) in (Union, UnionType) else (getattr(hint, "__supertype__", hint),)
    if isinstance(value, bool) != (wanted == (bool,)) or not isinstance(value, wanted):
        names = " or ".join({int: "a whole number", str: "a string", bool: "true or false"}[kind] for kind in wanted)
        raise InputError(f"{path} must be {names}, not {value!r}")
    return value


def _measure(hint: Any, value: Any, path: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{path} must be a number with a unit, such as '4KiB' or '5ms', not {value!r}")
    try:
        return _UNITS[hint](value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
