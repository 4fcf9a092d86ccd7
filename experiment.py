#!/usr/bin/env python3
"""Run an experiment: on the host, the command; as PID 1 of the guest, the experiment itself."""

import os
import sys


def main() -> int:
    """Be whichever of the two this process is."""
    if os.getpid() == 1 and sys.argv[0].endswith(".pyz"):  # a guest's program is an archive; 1 is also a container's
        from wblab.core.entry import OWN_PROGRAM

        if sys.argv[0] != OWN_PROGRAM:
            from wblab.guest.first import main as first

            first()
        import gc

        gc.disable()  # nothing of what is imported is garbage
        from wblab.guest.init import main as guest

        gc.freeze()  # nor will it be: looking at it again would copy its pages for each load
        gc.enable()
        guest()
    if sys.version_info < (3, 11):  # noqa: UP036 - the user may have an older one
        print("experiment.py: needs Python 3.11 or later: run it with python3.x", file=sys.stderr)
        return 2
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from wblab.cli import main as command

    return command(["run", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
