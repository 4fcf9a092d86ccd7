"""The kernel's configuration: fragments with reasons, and the check of the resulting .config."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, WblabError

_OPTION = re.compile(r'(?P<name>CONFIG_\w+)=(?P<value>"[^"]*"|[^\s#]+)\s+# *(?P<optional>optional: *)?(?P<why>\S.*)')
_END = re.compile(r"^\s*(?:help|endif|endmenu|endchoice|if|menu|choice|source)\b", re.MULTILINE)
_CONDITION = re.compile(r'^\s+(?:depends on|(?:bool|tristate) "[^"]*" if) +(.+)$', re.MULTILINE)
_ENTRY = re.compile(r"^(?:menu)?config\s+(\w+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class KernelOption:
    """One requested option and the reason for it."""

    name: str  # with CONFIG_
    value: str  # as in a .config; n: not set
    why: str
    optional: bool  # some series lack it
    fragment: str


def parse_fragment(text: str, fragment: str) -> tuple[KernelOption, ...]:
    """Parse the lines `CONFIG_NAME=value  # why` of a fragment, or `# optional: why` if some series lack the option.

    Raises InputError that names a line which is neither a comment nor an option with a reason.
    """
    return tuple(_options(text, fragment))


def _options(text: str, fragment: str) -> Iterator[KernelOption]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _OPTION.fullmatch(line.rstrip())
        if not match:
            raise InputError(f"{fragment}:{number}: {line.strip()!r} is not 'CONFIG_NAME=value  # why'")
        yield KernelOption(match["name"], match["value"], match["why"], match["optional"] is not None, fragment)


def requested(fragments: Iterable[Path]) -> tuple[KernelOption, ...]:
    """Read fragments. Raises InputError, also for an option in two fragments."""
    options = [option for path in fragments for option in parse_fragment(path.read_text(), path.name)]
    seen: dict[str, str] = {}
    for option in options:
        if option.name in seen:
            raise InputError(f"{option.name} is in {seen[option.name]} and in {option.fragment}: remove one")
        seen[option.name] = option.fragment
    return tuple(options)


def changed(options: Iterable[KernelOption], changes: Iterable[KernelOption]) -> tuple[KernelOption, ...]:
    """Return options with some changed or added; of several changes of one, the last counts."""
    found = {option.name: option for option in options}
    for change in changes:
        found[change.name] = change
    return tuple(found.values())


def from_user(values: Mapping[str, str]) -> tuple[KernelOption, ...]:
    """Return the options that a user gave by name, without CONFIG_: what is neither a symbol nor a number is a text."""
    plain = re.compile(r"[ymn]|-?\d+|0x[0-9A-Fa-f]+")
    quoted = {name: value if plain.fullmatch(value) else f'"{value}"' for name, value in values.items()}
    return tuple(
        KernelOption(f"CONFIG_{name}", quoted[name], "", optional=False, fragment="--config") for name in quoted
    )


def allconfig(options: Iterable[KernelOption]) -> str:
    """Return the options for kconfig (KCONFIG_ALLCONFIG), without reasons."""
    lines = (f"# {o.name} is not set" if o.value == "n" else f"{o.name}={o.value}" for o in options)
    return "".join(f"{line}\n" for line in lines)


def parse_allconfig(text: str) -> dict[str, str]:
    """Return what `allconfig` was given, as a user names it: without CONFIG_ and quotes."""
    lines = re.findall(r"^(?:# CONFIG_(\w+) is not set|CONFIG_(\w+)=(.*))$", text, re.MULTILINE)
    return {unset or name: "n" if unset else value.strip('"') for unset, name, value in lines}


def parse_config(text: str) -> dict[str, str]:
    """Return the values of a .config by name, without options that are not set."""
    return dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.MULTILINE))


def missing(options: Iterable[KernelOption], config: Mapping[str, str]) -> tuple[KernelOption, ...]:
    """Return the options, except optional ones, whose values in `config` differ from the request."""
    return tuple(o for o in options if not o.optional and config.get(o.name, "n") != o.value)


def check(options: Iterable[KernelOption], config: Mapping[str, str], tree: Path) -> None:
    """Raise WblabError that names each missing option and what it depends on."""
    lacking = missing(options, config)
    if lacking:
        reasons = "; ".join(explain(option, config, tree) for option in lacking)
        raise WblabError(f"the kernel's configuration differs from the request: {reasons}")


def explain(option: KernelOption, config: Mapping[str, str], tree: Path) -> str:
    """Return why `option` may have failed: its dependencies in the Kconfig files of `tree`, with their values."""
    wanted = f"{option.name}={option.value} ({option.fragment}) is {config.get(option.name, 'n')}"
    entries = list(_entries(option.name.removeprefix("CONFIG_"), tree))
    if not entries:
        return f"{wanted}: this kernel has no such option; remove it or mark it '# optional: why'"
    conditions = [condition for entry in entries for condition in _conditions(entry)]
    if not conditions:
        return f"{wanted}: it depends on nothing; it may be selected, be part of a choice or have no prompt"
    symbols = sorted({symbol for condition in conditions for symbol in re.findall(r"\b[A-Z][A-Z0-9_]+\b", condition)})
    values = ", ".join(f"{symbol}={config.get(f'CONFIG_{symbol}', 'n')}" for symbol in symbols)
    return f"{wanted}: it depends on {' and '.join(conditions)}, where {values}"


def _entries(symbol: str, tree: Path) -> Iterator[str]:
    """Yield the text of each entry of `symbol`, up to the next entry."""
    for path in sorted(tree.rglob("Kconfig*")):
        if path.is_file() and _builds_uml(path.relative_to(tree)):
            text = path.read_text(errors="replace")
            if symbol in text:
                # split() with one group: text, name, text, name, text...
                pieces = _ENTRY.split(text)
                yield from (body for name, body in zip(pieces[1::2], pieces[2::2], strict=True) if name == symbol)


def _builds_uml(path: Path) -> bool:
    return path.parts[0] != "arch" or len(path.parts) == 2 or path.parts[1] in ("um", "x86")


def _conditions(entry: str) -> Iterator[str]:
    """Yield the conditions of `depends on` and of a prompt's `if`, up to the help text."""
    attributes = _END.split(entry, maxsplit=1)[0].replace("\\\n", " ")
    for condition in _CONDITION.findall(attributes):
        yield " ".join(condition.split())
