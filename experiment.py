#!/usr/bin/env python3
"""Run an experiment: `wblab run` on the host, the experiment itself as PID 1 of the guest."""

import os
import sys


def main() -> int:
    """Run as PID 1 of a guest, or as the command."""
    if os.getpid() == 1 and sys.argv[0].endswith(".pyz"):  # only a guest runs an archive; a container has a PID 1 too
        from wblab.core.entry import OWN_PROGRAM

        if sys.argv[0] != OWN_PROGRAM:
            from wblab.guest.first import main as first

            first()
        import gc

        gc.disable()  # imports make no garbage
        from wblab.guest.init import main as guest

        gc.freeze()  # modules stay: collecting them later would copy their pages in each load
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
