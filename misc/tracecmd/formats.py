"""Event formats, as the kernel describes them in events/*/format (kernel/trace/trace_events.c)."""

import re
import string
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tracecmd.errors import TraceError

# Parsing must be linear: a hostile text can be long.
_FIELD = re.compile(
    r"field:(?P<declaration>[^;:]*);\s*offset:(?P<offset>\d{1,9});\s*size:(?P<size>\d{1,9});"
    r"(?:\s*signed:(?P<signed>[01]);)?"
)
_NAME = re.compile(r"^name:\s*(\S+)", re.MULTILINE)
_ID = re.compile(r"^ID:\s*(\d{1,9})$", re.MULTILINE)
_PRINT_FORMAT = "print fmt:"
_WORD = string.ascii_letters + string.digits + "_"
_DYNAMIC = re.compile(r"__(?P<how>data|rel)_loc\s+(?P<item>.*?)\s*\[\s*\]\s*$", re.DOTALL)
_LONG = {"long", "unsigned long", "long int", "unsigned long int", "size_t", "ssize_t", "uintptr_t", "cpumask_t"}
_SIZES = {
    1: {"char", "signed char", "unsigned char", "u8", "s8", "__u8", "__s8", "uint8_t", "int8_t", "bool"},
    2: {"short", "unsigned short", "u16", "s16", "__u16", "__s16", "uint16_t", "int16_t"},
    4: {"int", "unsigned int", "unsigned", "u32", "s32", "__u32", "__s32", "uint32_t", "int32_t", "pid_t", "gfp_t"},
    8: {"long long", "unsigned long long", "u64", "s64", "__u64", "__s64", "uint64_t", "int64_t"},
}
_LARGEST_BYTES = 1 << 24  # more than the largest page of a ring buffer
_CHARS = {"char", "const char", "unsigned char", "signed char"}


@dataclass(frozen=True)
class Field:
    """One field: its place in a record and the type of its bytes.

    `dynamic` is "" for a field that holds its value, "data" or "rel" for one that says where the value is (__data_loc,
    __rel_loc), and "rest" for an array that extends to the end of the record.
    """

    name: str
    type: str  # as declared, without the brackets of an array
    offset: int  # in bytes from the record's start
    size: int  # in bytes
    signed: bool
    dynamic: str = ""
    is_array: bool = False
    item_bytes: int = 0  # of an array's item; 0 if only the kernel knows

    @property
    def end(self) -> int:
        """End of the field, in bytes from the record's start."""
        return self.offset + self.size

    @property
    def is_number(self) -> bool:
        """Whether the field is one number."""
        return not self.is_array and not self.dynamic and self.size in (1, 2, 4, 8)

    @property
    def is_text(self) -> bool:
        """Whether the field is a C string."""
        return bool(self.is_array or self.dynamic) and self.type in _CHARS and self.item_bytes == 1


@dataclass(frozen=True)
class EventFormat:
    """The format of one event type. `common` fields are those that all events have."""

    system: str
    name: str
    id: int
    common: tuple[Field, ...]
    fields: tuple[Field, ...]
    print_format: str

    @property
    def key(self) -> str:
        """Its name in a trace: "system:name"."""
        return f"{self.system}:{self.name}"

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """All fields."""
        return {item.name: item for item in (*self.common, *self.fields)}

    @cached_property
    def least_bytes(self) -> int:
        """Minimum length of a record; an array at its end may be shorter."""
        ends = [item.end for item in (*self.common, *self.fields)]
        if self.fields and self.fields[-1].is_array and not self.fields[-1].dynamic:
            ends[-1] = self.fields[-1].offset
        return max(ends, default=0)


def identified(system: str, text: str) -> tuple[str, int]:
    """Return the name and the number of the event that a text describes. Raises TraceError."""
    end = text.find(_PRINT_FORMAT) if _PRINT_FORMAT in text else len(text)
    name, number = _NAME.search(text, 0, end), _ID.search(text, 0, end)
    if name is None or number is None:
        raise TraceError(f"the format of an event of {system!r} is damaged: it has no name or no ID")
    return name[1], int(number[1])


def parse_format(system: str, text: str, long_bytes: int) -> EventFormat:
    """Return the format that a text describes; `long_bytes` is the size of the kernel's long. Raises TraceError."""
    name, number = identified(system, text)
    head, _, print_format = text.partition(_PRINT_FORMAT)
    described = head.partition("format:")[2]
    first, _, own = described.partition("\n\n")
    if "field:" not in first:
        raise TraceError(f"the format of {system}:{name} is damaged: it has no fields")
    common, fields = _common(first, long_bytes), _fields(own, long_bytes)
    if not any(item.name == "common_pid" and item.is_number and item.size == 4 for item in common):
        raise TraceError(f"the format of {system}:{name} is damaged: it does not say which task was running")
    return EventFormat(system, name, number, common, fields, print_format.strip())


@lru_cache(maxsize=8)  # one for each kernel: all its events have the same
def _common(text: str, long_bytes: int) -> tuple[Field, ...]:
    return _fields(text, long_bytes)


def parse_fields(text: str, long_bytes: int) -> dict[str, Field]:
    """Return the fields that a text describes, as for a page of the ring buffer."""
    return {item.name: item for item in _fields(text, long_bytes)}


def _fields(text: str, long_bytes: int) -> tuple[Field, ...]:
    found = tuple(_field(match, long_bytes) for match in _FIELD.finditer(text))
    if len(found) != text.count("field:"):
        raise TraceError(f"a format is damaged: {text.count('field:')} fields, {len(found)} of them readable")
    return found


def _field(match: re.Match[str], long_bytes: int) -> Field:
    offset, size, signed = int(match["offset"]), int(match["size"]), match["signed"] == "1"
    declaration = " ".join(match["declaration"].split())
    type_, name, count = _parts(declaration)
    if not name or size > _LARGEST_BYTES or offset > _LARGEST_BYTES:
        raise TraceError(f"a format is damaged: field {declaration[:100]!r}")
    if dynamic := _DYNAMIC.match(type_):
        if size != 4:
            raise TraceError(f"a format is damaged: field {declaration!r} has {size} bytes, not 4")
        item = dynamic["item"]
        return Field(name, item, offset, size, signed, dynamic["how"], True, _item_bytes(item, 0, long_bytes))
    if count is None:
        return Field(name, type_, offset, size, signed, "" if size else "rest")
    item_bytes = _item_bytes(type_, size // count if count and size % count == 0 else 0, long_bytes)
    if item_bytes and size % item_bytes:
        item_bytes = 0
    return Field(name, type_, offset, size, signed, "" if size else "rest", True, item_bytes)


def _parts(declaration: str) -> tuple[str, str, int | None]:
    """Return type, name, and the number of an array's items: 0 if it is a constant's name, or missing."""
    count = None
    if declaration.endswith("]"):  # `char comm[16]`, `unsigned long args[6]`, `u8 mac[ETH_ALEN]`
        declaration, _, given = declaration.removesuffix("]").rpartition("[")
        count = int(given) if re.fullmatch(r"\s*[0-9]{1,9}\s*", given) else 0
    declaration = declaration.rstrip()
    type_ = declaration.rstrip(_WORD)
    return type_.rstrip(), declaration.removeprefix(type_), count


def _item_bytes(type_: str, known: int, long_bytes: int) -> int:
    if known:
        return known
    plain = type_.removeprefix("const ").strip()
    if plain in _LONG or plain.endswith("*"):
        return long_bytes
    return next((size for size, names in _SIZES.items() if plain in names), 0)
