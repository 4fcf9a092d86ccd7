"""The wblab command: argparse verbs. The only place that prints errors and chooses the exit code."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

from wblab import __version__
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_MOST_LETTERS = 2000


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are InputErrors."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}: see {self.prog} --help")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs; each sets `run`, a function of the parsed arguments."""
    from wblab.commands import bisect as bisect_verbs
    from wblab.commands import compare as compareverb
    from wblab.commands import export as export_verbs
    from wblab.commands import golden, live, load, monitor, rerun
    from wblab.commands import kernel as kernel_verbs
    from wblab.commands import matrix as matrix_verbs
    from wblab.commands import mitigate as mitigate_verbs
    from wblab.commands import pauses as data_verbs
    from wblab.commands import run as host_verbs
    from wblab.commands import timeline as plot_verbs
    from wblab.commands import twin as twin_verbs
    from wblab.commands import verify as claims_verbs

    parser = _Parser(prog="wblab", description="A laptop lab for Linux writeback lock-ups.")
    parser.add_argument("--version", action="version", version=f"wblab {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for module in (
        host_verbs,
        rerun,
        golden,
        kernel_verbs,
        bisect_verbs,
        matrix_verbs,
        data_verbs,
        export_verbs,
        plot_verbs,
        compareverb,
        claims_verbs,
        live,
        load,
        monitor,
        twin_verbs,
        mitigate_verbs,
    ):
        module.add_verbs(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 when something failed, 2 when the input cannot be used."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the locale cannot write is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = build_parser().parse_args(argv)
        arguments.run(arguments)
    except WblabError as error:
        print(f"wblab: {_shortened(printable(str(error)))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("wblab: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _shortened(message: str) -> str:
    """Return a message without its middle where what it quotes is long: the next step stands at its end."""
    half = _MOST_LETTERS // 2
    return message if len(message) <= _MOST_LETTERS else f"{message[:half]} … {message[-half:]}"


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
