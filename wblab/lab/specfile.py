"""Where a spec comes from: a TOML file or the record of a run, with single keys changed on the command line."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from wblab.core import units
from wblab.core.errors import InputError
from wblab.core.files import parse_toml, read_bytes
from wblab.core.loads import Load
from wblab.core.spec import Clock, Disk, Spec, Trace
from wblab.core.tables import from_table
from wblab.core.units import Bytes, Nanoseconds
from wblab.lab.formats import LIVE, RUN
from wblab.lab.sysctls import set_sysctl, sysctls

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


# A spec as TOML that somebody would write: only what differs from the defaults, with units. It reads back the same.

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
        f"{entry.name} = {_text(hints[entry.name], getattr(value, entry.name))}"
        for entry in own
        if not is_table[entry.name]
    ]
    if path and (lines or not any(is_table.values())):
        yield f"\n[{'.'.join(map(_key, path))}]"
    yield from lines
    for entry in own:
        if is_table[entry.name]:
            yield from _part(getattr(value, entry.name), (*path, entry.name))


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


# A live run as data: what was found on the machine, what was changed on it, and the loads.


@dataclass(frozen=True, kw_only=True)
class HostDisk:
    """What the loads wrote to. device: empty where no block device lies below, as with tmpfs.

    scheduler: of the disks at the bottom, while the loads ran; several, joined by commas.
    """

    device: str = ""
    filesystem: str
    mount_options: tuple[str, ...] = ()
    scheduler: str = ""


@dataclass(frozen=True, kw_only=True)
class LiveSpec:
    """One live run. Names that `Spec` has too mean the same; memory and vm.* settings are the machine's.

    cgroup: files of the command's group, memory.high and the like. tail: how long the loads ran on after the command.
    """

    name: str
    seed: int = 0
    memory: Bytes
    clock: Clock = Clock(mode="real", syscall_cost=Nanoseconds(0))
    disk: HostDisk
    sysctl: dict[str, int | str] = field(default_factory=dict)
    cgroup: dict[str, str] = field(default_factory=dict)
    trace: Trace = Trace()
    tail: Nanoseconds = Nanoseconds(0)
    load: dict[str, Load]

    @property
    def offenders(self) -> list[str]:
        """The names of the loads that end by themselves."""
        return [name for name, load in self.load.items() if load.role == "offender"]


KERNEL, PARAMETERS = "kernel", "parameters"


def read_spec(path: Path, settings: Sequence[str] = ()) -> Spec:
    """Return the spec in a file, with each `key=value` of `settings` applied. Raises InputError."""
    table = read_table(path)
    for setting in settings:
        set_key(table, *read_setting(setting, "disk.write_bps=2M"))
    return spec_of(table, exact=is_record(path))


def spec_of(table: dict[str, Any], *, exact: bool) -> Spec:
    """Return the spec in a table. exact: numbers are in the fields' own units. Raises InputError."""
    read = dict(table)
    if isinstance(kernel := read.get(KERNEL), dict) and isinstance(parameters := kernel.get(PARAMETERS), dict):
        read[KERNEL] = kernel | {PARAMETERS: dict(_dotted(parameters))}
    if "sysctl" in read:
        read["sysctl"] = sysctls(read["sysctl"], "sysctl")
    if isinstance(phases := read.get("phase"), dict):
        read["phase"] = {name: phase_of(phase, f"phase.{name}") for name, phase in phases.items()}
    _check_names(read.get("disk"))
    return from_table(Spec, read, exact=exact)


def _check_names(disks: object) -> None:
    """Raise InputError for a table [disk.NAME] with the name of a key of disks, which would be read as that key."""
    keys = {field.name: field for field in fields(Disk)}
    for name, value in disks.items() if isinstance(disks, dict) else ():
        if name in keys and isinstance(value, dict) and (keys[name].default_factory is not dict or keys.keys() & value):
            raise InputError(
                f"a disk cannot be called {name!r}: disk.{name} is a setting of disks: choose another name, such as "
                f"disk.{name}1"
            )


def _dotted(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the entries of nested tables by keys with dots: TOML makes such tables of printk.devkmsg = "on"."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def phase_of(table: object, place: str) -> object:
    """Return the table of a phase with the kernel's own numbers for its sysctls. Raises InputError."""
    if not isinstance(table, dict) or "sysctl" not in table:
        return table
    return table | {"sysctl": sysctls(table["sysctl"], f"{place}.sysctl")}


def read_setting(setting: str, example: str) -> tuple[str, Any]:
    """Return a key of a spec's table and its value, from `key=value`. Raises InputError, with an example."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise InputError(f"{setting!r} is not of the form key=value: write for example {example}")
    value = _toml_value(text)
    if (
        key.strip().partition(".")[0] == KERNEL
        and isinstance(value, bool | int | float)
        and not text.strip().isdecimal()
    ):
        value = text.strip()  # 7.2 is a name, 0x10 and true are for the kernel to read
    return key.strip(), value


def is_record(path: Path) -> bool:
    """Whether a spec's file is the record of a run, whose numbers are in the fields' own units."""
    return path.suffix == ".json"


def read_table(path: Path) -> dict[str, Any]:
    """Return the table in a spec's file, named after the file where it has no name. Raises InputError."""
    table = _recorded(path) if is_record(path) else read_toml(path, "spec")
    table.setdefault("name", path.stem)
    return table


def _recorded(path: Path) -> dict[str, Any]:
    """Return the spec in an experiment.json; its numbers are in the fields' own units."""
    record = RUN.read(path)
    if record["kind"] == LIVE:
        raise InputError("a live run cannot be repeated in a guest: 'wblab study' makes a similar run there")
    if not isinstance(spec := record.get("spec"), dict):
        raise InputError(f"{path} is damaged: its spec is no table")
    return spec


def set_key(table: dict[str, Any], key: str, value: object) -> None:
    """Set one key of a spec's table, such as disk.write_bps. Raises InputError where it leads through no table."""
    first, *rest = key.strip().split(".")
    if first == KERNEL:  # a plain string is its name, and a name leaves options and parameters as they are
        if rest and isinstance(name := table.get(KERNEL), str):
            table[KERNEL] = {"name": name}
        elif not rest and isinstance(value, str) and isinstance(table.get(KERNEL), dict):
            rest = ["name"]
    for place, name in enumerate([first, *rest]):
        above = (first, *rest)[:place]
        if (
            (name == "sysctl" and (not place or first == "phase"))
            or (name == "files" and "cgroup" in above)
            or (name == PARAMETERS and above == (KERNEL,))
        ):
            rest = [*rest[:place], *filter(None, [".".join(rest[place:])])]  # its own keys have dots: vm.dirty_bytes
            break
    node: Any = table
    for part in (parts := [first, *rest])[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise InputError(f"cannot set {key!r}: {part!r} is not a table")
    if parts[-2:-1] == ["sysctl"]:
        set_sysctl(node, parts[-1], value)
    else:
        node[parts[-1]] = value


def _toml_value(text: str) -> Any:
    """Return the value as TOML has it (numbers, lists, quoted strings), else the bare text: 2M, bfq."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:  # also TOMLDecodeError
        return text.strip()
