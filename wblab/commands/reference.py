"""wblab --reference: all verbs and options as one page in Markdown, generated from the parsers."""

import argparse
import re
from collections.abc import Iterator
from textwrap import indent

from wblab.commands.parser import filled, forms_of, shown, shown_name, verbs_of
from wblab.core.errors import InputError, WblabError

# wblab --completion SHELL: a script that completes verbs, options and files of wblab in a shell.
#
# For bash: wblab --completion bash > ~/.local/share/bash-completion/completions/wblab

# Metavariables of the help that are completed as files or directories.
_FILES = {"DIR": "DIRECTORY", "RUN": "DIRECTORY", "OTHER": "DIRECTORY"} | dict.fromkeys(
    ("FILE", "PATH", "SPEC", "SERIES|PATH"), "FILE"
)
_SHELLS = ("bash", "zsh", "fish")


def script(command: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that completes a command in a shell. Raises InputError, WblabError."""
    if shell not in _SHELLS:
        raise InputError(f"--completion: {shell!r} is not one of {', '.join(_SHELLS)}")
    try:
        import shtab
    except ImportError:
        raise WblabError("completion needs the package shtab: run pip install shtab, or make setup") from None
    from wblab.commands.parser import filled, parsers

    command = filled(command)
    for parser in parsers(command):
        for action in parser._actions:
            if wanted := _FILES.get(str(action.metavar)):
                action.complete = getattr(shtab, wanted)  # type: ignore[attr-defined]  # how shtab is told
    return str(shtab.complete(command, shell))


_HEAD = "# Commands\n\nEvery verb and option of `wblab`.\n"


def page(command: argparse.ArgumentParser) -> str:
    """Return the page about a command and all its verbs."""
    return f"{_HEAD}\n{verbs(command)}"


def verbs(command: argparse.ArgumentParser) -> str:
    """Return what is said about all verbs of a command, each below a heading."""
    return "\n".join(_verbs(filled(command), level=2))


def _verbs(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    for verb in verbs_of(parser):
        yield from _verb(verb, level)


def _verb(verb: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} {verb.prog}\n"
    yield f"{_escaped(verb.description or '')}\n"
    if verbs_of(verb):
        yield from _verbs(verb, level + 1)
    else:
        yield f"    {(verb.usage or '').replace('%(prog)s', verb.prog)}\n"
        yield from _table(verb)
        if verb.epilog:
            yield indent(verb.epilog, "    ") + "\n"
    for form in forms_of(verb):
        yield from _verb(form, level + 1)


def _table(verb: argparse.ArgumentParser) -> Iterator[str]:
    if rows := [f"| {_spelled(action)} | {_escaped(_words(action))} |" for action in shown(verb)]:
        yield "\n".join(["| argument | meaning |", "|---|---|", *rows]) + "\n"


def _spelled(action: argparse.Action) -> str:
    """Return an option with its value, or a positional argument."""
    if not action.option_strings:
        return _code(shown_name(action))
    value = "" if action.nargs == 0 else shown_name(action)
    value = f"[{value}]" if action.nargs == "?" else value
    return _code(" ".join(filter(None, [", ".join(action.option_strings), value])))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _words(action: argparse.Action) -> str:
    """Return an argument's help as argparse shows it: a percent sign is doubled in its source."""
    return (action.help or "").replace("%%", "%")


def _escaped(text: str) -> str:
    return re.sub(r"([|*_<>])", r"\\\1", text)
