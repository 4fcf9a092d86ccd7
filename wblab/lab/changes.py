"""What a spec changes of the preset that it is named after."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.lab.results import SPECS
from wblab.lab.specfile import FORMATS, read_spec

# What says which run it is, not what is run.
_APART = ("name", "seed", "kernel.name")
_NAMED = ("load", "disk", "cgroup", "phase", "agent")  # tables of things that have names


Presets = MutableMapping[str, Mapping[str, str]]  # keys with their values, by the name of the preset


def changes(spec: Spec, presets: Presets | None = None) -> list[str]:
    """Return what a spec sets otherwise than its preset, as `key=value`; of a new load, disk or group its name.

    presets: those that were read for other specs; one that is read for this is added.
    """
    presets = {} if presets is None else presets
    if spec.name not in presets:
        presets[spec.name] = _preset(spec.name)
    preset = presets[spec.name]
    if not preset:
        return []
    own = dict(_flat(spec))
    before, after = ({_entry(key): table.get(f"{_entry(key)}.kind", "") for key in table} for table in (preset, own))
    new = [entry for entry, kind in after.items() if entry and before.get(entry) != kind]
    words = [f"{entry} ({kind or 'new'})" for entry, kind in after.items() if entry in new]
    words += [f"{key}={value}" for key, value in own.items() if _entry(key) not in new and preset.get(key) != value]
    return [*words, *(f"no {entry}" for entry in before if entry not in after)]


def _preset(name: str) -> dict[str, str]:
    """Return the keys of a preset with their values; none if there is no such preset, or a user's own is damaged."""
    if name not in SPECS.names():
        return {}
    try:
        return dict(_flat(read_spec(SPECS.find(name))))
    except InputError:
        return {}


def _entry(key: str) -> str:
    """Return the load, disk or group that a key is of; empty of others."""
    parts = key.split(".")
    return ".".join(parts[:2]) if parts[0] in _NAMED and len(parts) > 2 else ""


def _flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the keys of a spec with their values, as somebody would write them."""
    hints = get_type_hints(type(value))
    kind = getattr(value, "kind", "")
    if kind and path:
        yield f"{path}.kind", str(kind)
    for field in fields(value):  # type: ignore[arg-type]
        if (key := f"{path}.{field.name}".lstrip(".")) not in _APART:
            yield from _of_value(hints[field.name], getattr(value, field.name), key)


def _of_value(hint: Any, value: object, path: str) -> Iterator[tuple[str, str]]:
    if is_dataclass(value):
        yield from _flat(value, path)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_value(type(item), item, f"{path}.{key}")
    elif isinstance(value, int) and hint in FORMATS:
        yield path, FORMATS[hint](value).replace(" ", "")
    elif isinstance(value, list | tuple):
        yield path, f"[{', '.join(map(str, value))}]"
    else:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)
