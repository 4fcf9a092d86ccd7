"""The wblab command: names the verbs, loads the one that was called, prints errors and chooses the exit code."""

import argparse
import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from wblab import __version__
from wblab.commands.parser import Parser, Verb, add_verbs
from wblab.core.errors import InputError, WblabError
from wblab.lab.extras import missing_core, missing_extra, require
from wblab.lab.interruption import interruptible
from wblab.lab.printable import printable

VERBS = (
    Verb("run", "run an experiment", "run", often=True),
    Verb("rerun", "repeat a run and compare both", "run", often=True),
    Verb("matrix", "run many experiments", "run", ("explore",), often=True),
    Verb("explore", "find which settings matter, by a sample of them", "run", ("explore",)),
    Verb("merge", "put the parts of a study together", "run", ("explore",)),
    Verb("audit", "repeat a random part of a study, and compare", "run", ("explore",)),
    Verb("golden", "compare the base run with that of other machines", "run"),
    Verb("timeline", "draw a run", "look", often=True),
    Verb("runs", "list runs and studies", "look"),
    Verb("pauses", "print a run's pauses", "look"),
    Verb("why", "explain a run's pauses", "look", often=True),
    Verb("layers", "take a run's writes and fsyncs apart", "look"),
    Verb("export", "write a run for another program", "look"),
    Verb("site", "make a static site of runs and studies", "look", ("explore", "pages")),
    Verb("compare", "compare groups of runs", "compare", ("explore",), often=True),
    Verb("verify", "check the claims of five works", "compare", ("explore",)),
    Verb("atlas", "which claims hold on which kernel and filesystem", "compare", ("explore",)),
    Verb("trial", "try common recommendations", "compare", ("explore",)),
    Verb("witness", "run a spec on a distribution's kernel too", "compare", ("explore",)),
    Verb("finding", "show, repeat and hand on what the lab found", "compare"),
    Verb("twin", "repeat a live run in a guest", "compare"),
    Verb("advise", "recommend what to set on this machine", "live", often=True),
    Verb("live", "run the loads on this machine beside a command", "live", often=True),
    Verb("load", "run one load on this machine", "live"),
    Verb("monitor", "show writeback on a live page", "live"),
    Verb("disk", "measure a real disk for experiments", "live", ("live",)),
    Verb("mitigate", "slow down processes that write too much", "live"),
    Verb("kernel", "list, build and describe kernels", "kernels"),
    Verb("ab", "compare two kernels", "kernels", ("explore",)),
    Verb("bisect", "find the kernel commit that changed a figure", "kernels", ("explore",)),
    Verb("pack", "put a run or a study into one file", "hand on"),
    Verb("open", "check, keep or repeat what such a file holds", "hand on"),
    Verb("lesson", "learn writeback by experiments of your own", "learn", often=True),
    Verb("clean", "remove runs and unfinished builds", "set up"),
    Verb("doctor", "check this machine", "set up", often=True),
    Verb("completion", "complete verbs and options in a shell", "set up"),
    Verb("reference", "print all verbs and options as one page", "set up"),
)
_MATPLOTLIB = "matplotlibrc"  # it may name programs and files, and Matplotlib reads that of this directory first
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_MOST_LETTERS = 2000


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs.

    What it parses has `run`, a function of the parsed arguments; and `command`, this parser, for verbs about verbs.
    """
    parser = Parser(prog="wblab", description="A laptop lab for Linux writeback lock-ups.", add_help=False)
    hidden = argparse.SUPPRESS  # the usage says what they are; the help is to fit a terminal
    parser.add_argument("-h", "--help", action="help", help=hidden)
    parser.add_argument("--version", action="version", version=f"wblab {__version__}", help=hidden)
    parser.set_defaults(command=parser)
    add_verbs(parser, VERBS, "wblab.commands")
    parser.usage = f"{parser.prog} [--help] [--version] VERB ..."
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 when something failed, 2 when the input cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the locale cannot write is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    atexit.register(gc.freeze)  # Python would look for garbage in all that it is about to drop
    try:
        arguments = build_parser().parse_args(argv)  # argparse does not stand an exception in the middle
        with interruptible():
            _run(arguments)
    except WblabError as error:
        print(f"wblab: {_shortened(printable(str(error)))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = printable(str(error.filename or "where it writes"))
        if error.errno == errno.EACCES:  # of a file that somebody has closed to us
            print(f"wblab: {where}: {error.strerror}: ask its owner, or name something else", file=sys.stderr)
            return InputError.exit_code
        if error.errno not in _NO_ROOM:
            raise
        print(f"wblab: {where}: {error.strerror}: make room, or give --exp another directory", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("wblab: interrupted", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _run(arguments: argparse.Namespace) -> None:
    """Run a verb. Raises InputError, with what to install, where it needs a package that is not there."""
    require(getattr(arguments, "extras", ()))
    if os.path.lexists(_MATPLOTLIB):
        from wblab.machine.trust import check_found

        check_found(Path(_MATPLOTLIB), "go to another directory: Matplotlib would do what it says")
    try:
        arguments.run(arguments)
    except ModuleNotFoundError as error:
        if told := missing_core(error.name or ""):
            raise InputError(told) from None
        extra = missing_extra(error.name or "")
        if extra is None:
            raise
        require([extra])
        raise


def _shortened(message: str) -> str:
    """Return a message without its middle where what it quotes is long: the next step stands at its end."""
    half = _MOST_LETTERS // 2
    return message if len(message) <= _MOST_LETTERS else f"{message[:half]} … {message[-half:]}"


if __name__ == "__main__":
    sys.exit(main())
