"""The reference of specs, from the dataclasses: every key with its type, unit and default."""

import inspect
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from wblab.core.loads import KINDS
from wblab.core.spec import Agent, Attributes, Cgroup, Clock, Disk, GuestKernel, Phase, Priority, Spec, Trace
from wblab.core.units import Bytes, BytesPerSecond, Nanoseconds
from wblab.lab.specfile import default_of, measured
from wblab.publish.site.page import SPECS, File, Section, html_table, page
from wblab.report.listing import Listing

# The tables of a spec, as TOML names them.
_TABLES: dict[str, type] = {
    "a spec": Spec,
    "[kernel]": GuestKernel,
    "[clock]": Clock,
    "[disk] or [disk.NAME]": Disk,
    "[trace]": Trace,
    "[cgroup.NAME]": Cgroup,
    "[agent.NAME]": Agent,
    "[phase.NAME]": Phase,
    "[phase.NAME.disk.DISK]": Attributes,
    "[phase.NAME.load.LOAD]": Priority,
}
_UNITS = {Bytes: "size: 64KiB, 4096", BytesPerSecond: "rate: 1MiB/s", Nanoseconds: "time: 50ms, 25us"}
_PLAIN = {int: "whole number", str: "text", bool: "true or false", float: "number"}


def spec_page(contents: Sequence[Section] = ()) -> File:
    """Return the page. contents: of the documentation."""
    parts = [_part(name, cls) for name, cls in _TABLES.items()]
    loads = [_part(f'[load.NAME] kind = "{kind}"', cls, kind) for kind, cls in KINDS.items()]
    return page(SPECS, "Specs: all keys, units and defaults", "spec.html", contents=contents, parts=parts, loads=loads)


def _part(name: str, cls: type, anchor: str = "") -> dict[str, Any]:
    prose, meanings = described(inspect.getdoc(cls) or "", [field.name for field in fields(cls)])
    rows = [(*row, meanings.get(row[0], "")) for row in _rows(cls)]
    table = html_table(Listing(rows, ("key", "value", "default", "meaning"))) if rows else ""
    return {"name": name, "id": anchor or cls.__name__.lower(), "paragraphs": prose, "table": table}


def described(docstring: str, names: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Return the paragraphs of a class's docstring, and the meanings of its fields, as in `one, two: what both are`."""
    name = "|".join(map(re.escape, names)) or r"\b\B"  # of no field
    begins = re.compile(rf"(?:^|(?<=\. ))((?:{name})(?:, (?:{name}))*): ")
    prose, meanings = list[str](), dict[str, str]()
    for paragraph in docstring.replace("`", "").split("\n\n"):
        before, *rest = begins.split(" ".join(paragraph.split()))
        prose += [before.strip()] if before.strip() else []
        meanings |= {
            each: meaning.strip()
            for fields_, meaning in zip(rest[::2], rest[1::2], strict=True)
            for each in fields_.split(", ")
        }
    return prose, meanings


def _rows(cls: type) -> Iterator[tuple[str, str, str]]:
    hints = get_type_hints(cls)
    for field in fields(cls):
        default = default_of(field)
        yield field.name, _kind(hints[field.name]), _default(hints[field.name], default)


def _kind(hint: Any) -> str:
    """Return what a key takes, in words."""
    arguments = get_args(hint)
    if hint in _UNITS:
        return _UNITS[hint]
    if get_origin(hint) is Literal:
        return ", ".join(map(str, arguments))
    if get_origin(hint) is tuple:
        return f"list: {_kind(arguments[0])}"
    if get_origin(hint) is dict:
        return f"table of {_kind(arguments[1])}"
    if arguments:
        return " or ".join(map(_kind, arguments))
    return _PLAIN.get(hint, f"[{re.sub(r'^Guest', '', getattr(hint, '__name__', str(hint))).lower()}]")


def _default(hint: Any, value: Any) -> str:
    if value is MISSING:
        return "required"
    if value in ("", (), {}) and not isinstance(value, int):
        return "none"
    shown = measured(hint, value)
    if isinstance(shown, bool):
        return str(shown).lower()
    return str(shown) if isinstance(shown, str | int | float) else "its own"
