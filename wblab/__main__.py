"""The wblab command, also `python3 -m wblab`. Ctrl-C ends it in one line at any moment, outside of a verb too."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: there is nothing to clear up where no verb has begun, or one has ended."""
    os.write(2, b"wblab: interrupted\n")
    os._exit(_INTERRUPTED)


def _end_at_interruption() -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as what a shell starts in the background
        signal.signal(signal.SIGINT, _end)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, by default with this process's arguments, and return its exit code."""
    _end_at_interruption()  # importing the lab takes a quarter of a second on a slow machine
    from wblab.cli import main as command

    code = command(argv)
    _end_at_interruption()
    return code


if __name__ == "__main__":
    sys.exit(main())
