"""Progress on standard error: a bar where it is a terminal and rich is installed, a line now and then elsewhere.

What takes minutes says so on no terminal too: a line when a step begins, and how long it took. For steps of the
Makefile: `python3 -m wblab.lab.progress STEP COMMAND...`.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from wblab.lab.printable import printable

# Called with the share done, 0.0 to 1.0 (None: unknown), and a few words on what is going on. What goes through `steps`
# begins a step without a share.
Report = Callable[[float | None, str], None]
_PATIENCE_S = 10


def silent(share: float | None, text: str) -> None:
    """Report nothing."""


@contextmanager
def bar(title: str) -> Iterator[Report]:
    """Show one progress bar for as long as the block runs, and yield what reports to it."""
    if not sys.stderr.isatty():
        yield _now_and_then(title)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:  # a system Python without packages: experiment.py must run there too
        yield _one_line(title)
        print("\r\033[K", end="", file=sys.stderr, flush=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=1.0, text="")

        def report(share: float | None, text: str) -> None:
            progress.update(task, total=None if share is None else 1.0, completed=share or 0.0, text=text)

        yield report


@contextmanager
def steps(title: str) -> Iterator[Report]:
    """Show a bar as `bar` does; where nobody would see it, lines that say which step begins and how long it took."""
    if sys.stderr.isatty():
        with bar(title) as report:
            yield report
        return
    with ExitStack() as running:

        def report_lines(share: float | None, text: str) -> None:
            if share is None:
                running.close()
                running.enter_context(step(f"{title}: {text}"))

        yield report_lines


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say that a step begins; and when it has ended, unless it failed, how long it took."""
    said = printable(f"wblab: {what}")
    print(f"{said} ...", file=sys.stderr, flush=True)
    started_s = time.monotonic()
    yield
    print(f"{said}: {time.monotonic() - started_s:.1f} s", file=sys.stderr, flush=True)


def _now_and_then(title: str) -> Report:
    """Return what prints a line every ten seconds: what is done sooner says nothing."""
    said_s = [time.monotonic()]

    def report(share: float | None, text: str) -> None:
        if time.monotonic() - said_s[0] >= _PATIENCE_S:
            said_s[0] = time.monotonic()
            percent = "" if share is None else f"{share:.0%}, "
            print(printable(f"wblab: {title}: {percent}{text}"), file=sys.stderr, flush=True)

    return report


def _one_line(title: str) -> Report:
    def report(share: float | None, text: str) -> None:
        percent = "" if share is None else f" {share:4.0%}"
        print(f"\r\033[K{title}{percent} {text}", end="", file=sys.stderr, flush=True)

    return report


def main(arguments: list[str]) -> int:
    """Run a command as a step, and return its exit code."""
    what, *command = arguments
    try:
        with step(what):
            subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:  # it has said why
        return error.returncode
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells report it
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
