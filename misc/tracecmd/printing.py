"""The meaning of numbers in an event: the tables of __print_flags() and __print_symbolic() in its print format."""

import ast
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from tracecmd.errors import TraceError

_CALL = re.compile(r"__print_(?P<how>flags|symbolic)(?:_u64)?\s*\(")
_FIELD = re.compile(r"REC->(\w+)")
_ENTRY = re.compile(r"\{(?P<value>[^{}\"]*),\s*\"(?P<name>[^\"]*)\"\s*\}")
_CAST = re.compile(r"\(\s*[A-Za-z_]\w*(?:\s+\w+)*\s*\)(?=\s*[\w(])")
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
_OCTAL = re.compile(r"\b0+(?=\d)")
_MOST_BITS = 64
_MASK = (1 << _MOST_BITS) - 1  # the kernel looks up an unsigned long
# Above any kernel's lengths; a hostile file must not keep us busy.
_MOST_NAMES, _MOST_LETTERS = 1000, 1000

# Names that kernels leave in print formats, without TRACE_DEFINE_ENUM(). Inode flags became an enum, and so stay as
# names, in the same series in which they have these numbers. Earlier kernels have the numbers in their formats.
KNOWN = {
    # include/linux/fs.h: enum inode_state_flags_enum
    "I_NEW": 1 << 0,
    "I_SYNC": 1 << 1,
    "I_LRU_ISOLATING": 1 << 2,
    "I_DIRTY_SYNC": 1 << 4,
    "I_DIRTY_DATASYNC": 1 << 5,
    "I_DIRTY_PAGES": 1 << 6,
    "I_WILL_FREE": 1 << 7,
    "I_FREEING": 1 << 8,
    "I_CLEAR": 1 << 9,
    "I_REFERENCED": 1 << 10,
    "I_LINKABLE": 1 << 11,
    "I_DIRTY_TIME": 1 << 12,
    "I_WB_SWITCH": 1 << 13,
    "I_OVL_INUSE": 1 << 14,
    "I_CREATING": 1 << 15,
    "I_DONTCACHE": 1 << 16,
    "I_SYNC_QUEUED": 1 << 17,
    "I_PINNING_NETFS_WB": 1 << 18,
    "I_METADATA_WRITEBACK": 1 << 19,
    # include/linux/mmzone.h: enum vmscan_throttle_state
    "VMSCAN_THROTTLE_WRITEBACK": 0,
    "VMSCAN_THROTTLE_ISOLATED": 1,
    "VMSCAN_THROTTLE_NOPROGRESS": 2,
    "VMSCAN_THROTTLE_CONGESTED": 3,
    # include/uapi/linux/ioprio.h
    "IOPRIO_CLASS_NONE": 0,
    "IOPRIO_CLASS_RT": 1,
    "IOPRIO_CLASS_BE": 2,
    "IOPRIO_CLASS_IDLE": 3,
    "IOPRIO_CLASS_INVALID": 7,
}


@dataclass(frozen=True)
class Meaning:
    """What a field's numbers mean. Several flags may be set at once; a symbol stands for one number."""

    field: str
    operand: ast.expr  # what is looked up: the field, or part of it
    is_flags: bool
    delimiter: str
    names: tuple[tuple[int, str], ...]

    def text(self, number: int) -> str:
        """Return a number as the kernel prints it: names, and a hexadecimal number for the rest."""
        number = _evaluate(self.operand, self.field, {self.field: int(number)}) & _MASK
        if not self.is_flags:
            return next((name for value, name in self.names if value == number), hex(number))
        found, left = [], number
        for value, name in self.names:
            if value and left & value == value:
                found.append(name)
                left &= ~value
        if left or not found:
            zero = next((name for value, name in self.names if value == number == 0), None)
            found.append(hex(left) if zero is None else zero)
        return self.delimiter.join(found)


def meanings(print_format: str) -> dict[str, Meaning | TraceError]:
    """Return the meaning of each field's numbers, or the reason why its table cannot be read."""
    found: dict[str, Meaning | TraceError] = {}
    end = 0
    for call in _CALL.finditer(print_format):
        if call.start() < end:  # inside the previous call
            continue
        arguments, end = _arguments(print_format, call.end())
        fields = set(_FIELD.findall(arguments[0]))
        if len(fields) == 1 and (field := fields.pop()) not in found:
            try:
                found[field] = _meaning(field, call["how"] == "flags", arguments)
            except TraceError as error:
                found[field] = error
            except RecursionError:
                found[field] = TraceError("a print format is nested too deeply")
    return found


def _meaning(field: str, is_flags: bool, arguments: list[str]) -> Meaning:
    operand = _parse(arguments[0].replace(f"REC->{field}", field))
    _evaluate(operand, arguments[0], {field: 0})
    delimiter = arguments[1].strip().strip('"') if is_flags and len(arguments) > 1 else ""
    table = ",".join(arguments[2 if is_flags else 1 :])
    entries = list(itertools.islice(_ENTRY.finditer(table), _MOST_NAMES + 1))
    if len(entries) > _MOST_NAMES:
        raise TraceError(f"a print format has more than {_MOST_NAMES} names for {field!r}")
    names = [(_evaluate(_parse(entry["value"]), entry["value"], KNOWN) & _MASK, entry["name"]) for entry in entries]
    return Meaning(field, operand, is_flags, delimiter, tuple(names))


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a call whose opening parenthesis precedes `start`, and where it closes.

    A call that never closes has an empty argument, and extends to the end.
    """
    found: list[str] = []
    depth, quoted, begin = 0, False, start
    for place in range(start, len(text)):
        letter = text[place]
        if letter == '"' and text[place - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if letter in "({":
            depth += 1
        elif letter in ")}":
            depth -= 1
            if depth < 0:
                return [*found, text[begin:place]], place
        elif letter == "," and depth == 0:
            found.append(text[begin:place])
            begin = place + 1
    return [""], len(text)


def _parse(written: str) -> ast.expr:
    """Return a C expression parsed as Python: without casts and suffixes, octal numbers converted."""
    if len(written) > _MOST_LETTERS:
        raise TraceError(f"a print format has an expression of {len(written)} characters")
    plain = written
    if not any(name in plain for name in KNOWN):
        plain = _CAST.sub("", plain)
    plain = _OCTAL.sub("0o", _SUFFIX.sub(r"\1", plain)).strip()
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TraceError(f"cannot read {written.strip()!r} in a print format") from None


_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.BitOr: lambda a, b: a | b,
    ast.BitAnd: lambda a, b: a & b,
    ast.LShift: lambda a, b: a << b if 0 <= b < _MOST_BITS else 0,
    ast.RShift: lambda a, b: a >> b if 0 <= b < _MOST_BITS else 0,
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
}


def _evaluate(tree: ast.expr, written: str, names: dict[str, int]) -> int:
    match tree:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, written, names)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return ~_evaluate(operand, written, names)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            return _OPERATIONS[type(operator)](_evaluate(left, written, names), _evaluate(right, written, names))
    raise TraceError(f"a print format has the name or number {written.strip()!r}, which only the kernel can resolve")
