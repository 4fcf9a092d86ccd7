"""Progress on standard error: a bar where it is a terminal and rich is installed, silence elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the share done, 0.0 to 1.0 (None: unknown), and a few words on what is going on.
Report = Callable[[float | None, str], None]


def silent(share: float | None, text: str) -> None:
    """Report nothing."""


@contextmanager
def bar(title: str) -> Iterator[Report]:
    """Show one progress bar for as long as the block runs, and yield what reports to it."""
    if not sys.stderr.isatty():
        yield silent
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


def _one_line(title: str) -> Report:
    def report(share: float | None, text: str) -> None:
        percent = "" if share is None else f" {share:4.0%}"
        print(f"\r\033[K{title}{percent} {text}", end="", file=sys.stderr, flush=True)

    return report
