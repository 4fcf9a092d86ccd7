"""SIGTERM ends a command as Ctrl-C does, and neither gets lost."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_A_MOMENT_S = 0.01


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGTERM too, and once more where Python has dropped one.

    In a weak reference's callback or in `__del__`, which run at any moment (imports have such callbacks), Python
    prints an exception and goes on.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    before = sys.unraisablehook

    def again_if_dropped(unraisable: "UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            signal.signal(signal.SIGALRM, again)
            signal.setitimer(signal.ITIMER_REAL, _A_MOMENT_S)  # not at once: an exception in here is dropped as well
        else:
            before(unraisable)

    def again(number: int, frame: FrameType | None) -> None:
        while frame and frame.f_code is not again_if_dropped.__code__:
            frame = frame.f_back
        if not frame:
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, _A_MOMENT_S)  # still in there: the machine is busy

    sys.unraisablehook = again_if_dropped
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
