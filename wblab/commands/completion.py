"""wblab --completion SHELL: a script that completes verbs, options and files of wblab in a shell.

For bash: wblab --completion bash > ~/.local/share/bash-completion/completions/wblab
"""

import argparse

from wblab.core.errors import InputError, WblabError

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
