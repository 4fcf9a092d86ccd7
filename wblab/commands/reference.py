"""wblab reference: all verbs and options as Markdown, which the built docs show in docs/reference/commands.md."""

import argparse
import re
from collections.abc import Iterator
from textwrap import indent

from wblab.commands.parser import filled, verbs_of

_HEAD = "# Commands\n\nEvery verb and option of `wblab`.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb."""
    parser.description = "Print all verbs and options as one page in Markdown."
    parser.set_defaults(run=_reference)


def _reference(arguments: argparse.Namespace) -> None:
    print(f"{_HEAD}\n{verbs(arguments.command)}", end="")


def verbs(command: argparse.ArgumentParser) -> str:
    """Return what is said about all verbs of a command, each below a heading."""
    return "\n".join(_verbs(filled(command), level=2))


def _verbs(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    for verb in verbs_of(parser):
        yield f"{'#' * level} {verb.prog}\n"
        yield f"{_escaped(verb.description or '')}\n"
        if verbs_of(verb):
            yield from _verbs(verb, level + 1)
        else:
            yield f"    {verb.usage or _usage(verb)}\n"
            yield from _table(verb)
            if verb.epilog:
                yield indent(verb.epilog, "    ") + "\n"


def _usage(verb: argparse.ArgumentParser) -> str:
    """Return the usage of a verb. Argparse's own differs between versions of Python."""
    words = (_word(action) for action in _shown(verb) if not action.option_strings)
    return " ".join([verb.prog, "[options]", *words])


def _word(action: argparse.Action) -> str:
    name = _name(action)
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _table(verb: argparse.ArgumentParser) -> Iterator[str]:
    if rows := [f"| {_spelled(action)} | {_escaped(_words(action))} |" for action in _shown(verb)]:
        yield "\n".join(["| argument | meaning |", "|---|---|", *rows]) + "\n"


def _shown(verb: argparse.ArgumentParser) -> list[argparse.Action]:
    hidden = argparse.SUPPRESS
    return [action for action in verb._actions if action.help != hidden and "--help" not in action.option_strings]


def _spelled(action: argparse.Action) -> str:
    """Return an option with its value, or a positional argument."""
    if not action.option_strings:
        return _code(_name(action))
    value = "" if action.nargs == 0 else _name(action)
    value = f"[{value}]" if action.nargs == "?" else value
    return _code(" ".join(filter(None, [", ".join(action.option_strings), value])))


def _name(action: argparse.Action) -> str:
    """Return the placeholder of an argument's value."""
    if action.choices and not action.metavar:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or (action.dest.upper() if action.option_strings else action.dest))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _words(action: argparse.Action) -> str:
    """Return an argument's help as argparse shows it: a percent sign is doubled in its source."""
    return (action.help or "").replace("%%", "%")


def _escaped(text: str) -> str:
    return re.sub(r"([|*_<>])", r"\\\1", text)
