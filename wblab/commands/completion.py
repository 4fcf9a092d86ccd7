"""wblab completion."""

import argparse

from wblab.core.errors import WblabError

# Metavariables of the help that are completed as files or directories.
_FILES = {"DIR": "DIRECTORY", "RUN": "DIRECTORY", "OTHER": "DIRECTORY"} | dict.fromkeys(
    ("FILE", "PATH", "SPEC", "SERIES|PATH"), "FILE"
)
_SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Print a script that completes the verbs, options and files of wblab in a shell. For bash: "
        "wblab completion bash > ~/.local/share/bash-completion/completions/wblab"
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))
    parser.set_defaults(run=_completion)


def _completion(arguments: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError:
        raise WblabError("completion needs the package shtab: run pip install shtab, or make setup") from None
    from wblab.commands.parser import filled, parsers

    command = filled(arguments.command)
    for parser in parsers(command):
        for action in parser._actions:
            if wanted := _FILES.get(str(action.metavar)):
                action.complete = getattr(shtab, wanted)  # type: ignore[attr-defined]  # how shtab is told
    print(shtab.complete(command, arguments.shell))
