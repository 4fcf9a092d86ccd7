"""The wblab command: names the verbs, loads the one that was called, prints errors and chooses the exit code."""

import argparse
import atexit
import errno
import gc
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from wblab import __version__
from wblab.commands.parser import Parser, Verb, add_verbs
from wblab.core.errors import InputError, WblabError
from wblab.lab.extras import missing_core, missing_extra, require
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


# SIGTERM ends a command as Ctrl-C does, and neither gets lost.

_A_MOMENT_S = 0.01


class Terminated(KeyboardInterrupt):
    """A SIGTERM, as Ctrl-C is a KeyboardInterrupt."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGTERM too, and once more where Python has dropped one.

    In a weak reference's callback or in `__del__`, which run at any moment (imports have such callbacks), Python
    prints an exception and goes on.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    before, dropped = sys.unraisablehook, KeyboardInterrupt

    def again_if_dropped(unraisable: "UnraisableHookArgs") -> None:
        nonlocal dropped
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            dropped = type(unraisable.exc_value)
            signal.signal(signal.SIGALRM, again)
            signal.setitimer(signal.ITIMER_REAL, _A_MOMENT_S)  # not at once: an exception in here is dropped as well
        else:
            before(unraisable)

    def again(number: int, frame: FrameType | None) -> None:
        while frame and frame.f_code is not again_if_dropped.__code__:
            frame = frame.f_back
        if not frame:
            raise dropped
        signal.setitimer(signal.ITIMER_REAL, _A_MOMENT_S)  # still in there: the machine is busy

    sys.unraisablehook = again_if_dropped
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Terminated


VERBS = (
    Verb("run", "run an experiment", "run", often=True),
    Verb("on", "run a program of your own on a slow disk", "run", often=True, wing="on"),
    Verb("repeat", "is it the same to the bit? Make runs again and compare", "run", often=True),
    Verb(
        "study",
        "make many runs and say what they show",
        "run",
        ("explore",),
        often=True,
        forms=(
            Verb("kernels", "compare two kernels", extras=("explore",), module="study.ab"),
            Verb("merge", "put the parts together that --shard made", extras=("explore",), module="study.merge"),
        ),
    ),
    Verb(
        "why",
        "explain a run's pauses",
        "look",
        often=True,
        forms=(
            Verb("pauses", "only print them, load by load"),
            Verb("layers", "take each write and fsync apart"),
        ),
    ),
    Verb("timeline", "draw a run", "look", often=True),
    Verb("compare", "compare groups of runs", "look", ("explore",), often=True),
    Verb(
        "runs",
        "list runs and studies",
        "look",
        forms=(Verb("clean", "remove runs, studies and unfinished builds"),),
    ),
    Verb("finding", "show and hand on what the lab found", "look", wing="claims"),
    Verb("live", "run the loads on this machine beside a command", "this machine", often=True, wing="live"),
    Verb("advise", "recommend what to set on this machine", "this machine", often=True, wing="live"),
    Verb("monitor", "show writeback on a live page", "this machine", wing="live"),
    Verb("mitigate", "slow down processes that write too much", "this machine", wing="live"),
    Verb("disk", "measure a real disk for experiments", "this machine", ("live",), wing="live"),
    Verb("recorder", "print a script that records a stall elsewhere", "this machine", wing="foreign"),
    Verb("load", "run one load", "this machine"),
    Verb("kernel", "list, build and describe kernels", "kernels"),
    Verb("bisect", "find the kernel commit that changed a figure", "kernels", ("explore",)),
    Verb(
        "pack",
        "put a run or a study into one file",
        "hand on",
        forms=(Verb("site", "make a static site of runs and studies", extras=("explore", "pages"), wing="publish"),),
        wing="publish",
    ),
    Verb("open", "check and keep what such a file holds", "hand on", wing="publish"),
    Verb("lesson", "learn writeback by experiments of your own", "learn", often=True, wing="lessons"),
    Verb("doctor", "check this machine", "set up", often=True),
)
# What verbs of today once did, by their second word or an option.
_OLD_PARTS = frozenset(["run", "stock", "source", "list", "next", "reset", "notebook", "page", "pictures", "--repeat"])
_WITH_OLD_PARTS = ("finding", "kernel", "lesson", "open")
_MATPLOTLIB = "matplotlibrc"  # it may name programs and files, and Matplotlib reads that of this directory first
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_INTERRUPTED, _TERMINATED = 130, 143  # 128 + SIGINT, + SIGTERM, as shells report it
_MOST_LETTERS = 2000


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs.

    What it parses has `run`, a function of the parsed arguments; and `command`, this parser.
    """
    parser = Parser(prog="wblab", description="A laptop lab for Linux writeback lock-ups.", add_help=False)
    hidden = argparse.SUPPRESS  # the usage says what they are; the help is to fit a terminal
    parser.add_argument("-h", "--help", action="help", help=hidden)
    parser.add_argument("--version", action="version", version=f"wblab {__version__}", help=hidden)
    parser.add_argument("--reference", action=_Reference, nargs=0, help=hidden)
    parser.add_argument("--completion", action=_Completion, metavar="SHELL", help=hidden)
    parser.set_defaults(command=parser)
    add_verbs(parser, VERBS, "wblab.commands")
    parser.usage = f"{parser.prog} [--help] [--version] [--reference] [--completion SHELL] VERB ..."
    return parser


class _Reference(argparse.Action):
    """Prints all verbs and options as one page in Markdown."""

    def __call__(self, parser: argparse.ArgumentParser, *parsed: object) -> NoReturn:
        from wblab.commands.reference import page

        print(page(parser), end="")
        parser.exit()


class _Completion(argparse.Action):
    """Prints a script that completes the command in a shell."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, values: object, *parsed: object) -> NoReturn:
        from wblab.commands.reference import script

        print(script(parser, str(values)))
        parser.exit()


def main(argv: Sequence[str] | None = None, run: Callable[[argparse.Namespace], None] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 when something failed, 2 when the input cannot be used.

    run: runs the verb; by default, as its arguments say.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the locale cannot write is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    atexit.register(gc.freeze)  # Python would look for garbage in all that it is about to drop
    try:
        given = list(sys.argv[1:] if argv is None else argv)
        arguments = build_parser().parse_args(_renamed(given))  # argparse does not stand an exception in the middle
        with interruptible():
            if argv is None:  # this process is the command, and no other program's
                _keep_compiled()
            (run or _run)(arguments)
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
    except KeyboardInterrupt as error:
        # Of one within an exec() of text, as imports make dataclasses, Python remembers until the next exec() that
        # nobody caught it; `python -m wblab` would end by SIGINT (run_eval_code_obj in Python/pythonrun.c).
        exec("")
        print("wblab: interrupted", file=sys.stderr)
        return _TERMINATED if isinstance(error, Terminated) else _INTERRUPTED
    return 0


def _renamed(given: list[str]) -> list[str]:
    """Return a command line with today's verbs, and say so if it has names of 0.1."""
    is_today = bool(given) and given[0] in {verb.name for verb in VERBS}
    if not given or (is_today and not (given[0] in _WITH_OLD_PARTS and _OLD_PARTS.intersection(given))):
        return given
    from wblab.commands.renamed import renamed

    found = renamed(given)
    if found != given:
        print(f"wblab: today this is written: {printable(shlex.join(['wblab', *found]))}", file=sys.stderr)
    return found


def _keep_compiled() -> None:
    from wblab.lab.compiled import keep_compiled  # `--help` does without the modules that this imports

    keep_compiled()


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
