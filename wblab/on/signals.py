"""A signal for the user's program: it goes on to it, into the guest, where env(1) would have left it to it.

While a guest runs, nothing of the host reaches it but files. So a signal is a file beside the order, for which the
guest's half looks at each of its turns. Both sides read this module: it imports the standard library only.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_SIGNAL = "signal"
_PASSED = (signal.SIGINT, signal.SIGTERM)
_AGAIN = b"wblab: Ctrl-C went on to the command; another one ends the guest\n"


@contextmanager
def passed_on(place: Path) -> Iterator[list[signal.Signals]]:
    """Let the first Ctrl-C or SIGTERM be the program's; yield those that were. A second one ends the guest.

    place: the directory that the guest gets. Once it is no more, a signal is ours.
    """
    came: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield came  # only that one may have signals
        return
    ours = {number: signal.getsignal(number) for number in _PASSED}

    def note(number: int, frame: FrameType | None) -> None:
        if not came:
            with suppress(OSError):
                (place / f"{_SIGNAL}.new").write_text(str(number))
                os.rename(place / f"{_SIGNAL}.new", place / _SIGNAL)
                came.append(signal.Signals(number))
                if number == signal.SIGINT and os.isatty(2):
                    os.write(2, _AGAIN)
                return
        before = ours[signal.Signals(number)]
        if callable(before):
            before(number, frame)

    for number, before in ours.items():
        if before is not signal.SIG_IGN:  # as what a shell starts in the background ignores Ctrl-C
            signal.signal(number, note)
    try:
        yield came
    finally:
        for number, before in ours.items():
            signal.signal(number, before)


def forget_signal(place: Path) -> None:
    """Let a directory that was a guest's have no signal for a guest that gets it again."""
    (place / _SIGNAL).unlink(missing_ok=True)


class Awaited:
    """The guest's look at what came, from the directory that it was given."""

    def __init__(self, place: Path) -> None:
        self._place, self._had = place, False

    def take(self) -> signal.Signals | None:
        """Return the signal that came since the last look."""
        if self._had:
            return None
        try:
            found = signal.Signals(int((self._place / _SIGNAL).read_text()))
        except (OSError, ValueError):
            return None
        self._had = True
        return found
