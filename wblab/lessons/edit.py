"""A student's TOML files with one value changed. Comments, order and layout stay as they were written."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from tomlkit import TOMLDocument, dumps, inline_table, parse, table
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from wblab.core.errors import InputError
from wblab.core.files import parse_toml
from wblab.lessons.check import parts, patched


def with_answer(text: str, question: str, answer: str) -> str:
    """Return a file of answers with one of them replaced. Raises InputError for a file that is no TOML."""
    document = _parsed(text)
    document[question] = answer
    return _written(document, _plain(text) | {question: answer})


def with_changes(text: str, changes: Mapping[str, Any]) -> str:
    """Return a spec with keys changed, as load.l1.idle or sysctl.vm.dirty_bytes; None leaves a key out.

    Raises InputError for a file that is no TOML, or that cannot be changed in this way.
    """
    document = _parsed(text)
    for key, value in changes.items():
        _change(document, key, value)
    return _written(document, patched(_plain(text), changes))


def _change(document: TOMLDocument, key: str, value: object) -> None:
    *parents, last = parts(key)
    within: Any = document
    for parent in parents:
        if parent not in within:
            if value is None:
                return
            within[parent] = inline_table() if isinstance(within, InlineTable) else table()
        within = within[parent]
        if not isinstance(within, MutableMapping):
            raise InputError(f"{parent} is no table")
    if value is None:
        within.pop(last, None)
    else:
        within[last] = value


def _parsed(text: str) -> TOMLDocument:
    try:
        return parse(text)
    except (TOMLKitError, ValueError) as error:
        raise InputError(f"it is not TOML: {error}") from None


def _plain(text: str) -> dict[str, Any]:
    try:
        return parse_toml(text.encode())
    except ValueError as error:
        raise InputError(f"it is not TOML: {error}") from None


def _written(document: TOMLDocument, wanted: Mapping[str, Any]) -> str:
    """Return the text of a document. It must hold what was wanted, and nothing else may have changed."""
    text = dumps(document)
    if _without_empty(_plain(text)) != _without_empty(wanted):
        raise InputError("it cannot be changed from here: change it in an editor")
    return text


def _without_empty(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested tables without those that hold nothing."""
    found = {key: _without_empty(value) if isinstance(value, Mapping) else value for key, value in given.items()}
    return {key: value for key, value in found.items() if value != {}}
