"""Where a spec comes from: a TOML file, with single keys changed from the command line."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, nearest
from wblab.core.spec import Spec
from wblab.core.tables import from_table

ROOT = Path(__file__).resolve().parents[2]
PRESETS = ROOT / "experiments"


def preset_names() -> list[str]:
    """Return the names of the specs that come with the lab."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def find_spec(text: str) -> Path:
    """Return the file of a spec: a path, or the name of one that comes with the lab. Raises InputError."""
    for path in (Path(text), PRESETS / f"{text}.toml"):
        if path.is_file():
            return path
    presets = preset_names()
    raise InputError(
        f"no spec {text!r}{nearest(Path(text).stem, presets)}: give a TOML file or one of {', '.join(presets)}"
    )


def read_spec(path: Path, settings: Sequence[str] = ()) -> Spec:
    """Return the spec in a TOML file, with each `key=value` of `settings` applied. Raises InputError."""
    try:
        table = tomllib.loads(path.read_text())
    except OSError as error:
        raise InputError(f"cannot read the spec {str(path)!r}: {error.strerror}") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise InputError(f"{str(path)!r} is not a TOML file: {error}") from None
    table.setdefault("name", path.stem)
    for setting in settings:
        _set(table, setting)
    return from_table(Spec, table)


def _set(table: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise InputError(f"{setting!r} is not of the form key=value: write for example disk.write_bps=2M")
    first, *rest = key.strip().split(".")
    if first == "sysctl":  # its own keys have dots: sysctl.vm.dirty_bytes
        rest = [".".join(rest)] if rest else []
    node: Any = table
    for part in (parts := [first, *rest])[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise InputError(f"cannot set {key!r}: {part!r} is not a table")
    node[parts[-1]] = _toml_value(text)


def _toml_value(text: str) -> Any:
    """Return the value as TOML has it (numbers, lists, quoted strings), else the bare text: 2M, bfq."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
