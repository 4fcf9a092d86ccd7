#!/usr/bin/env python3
"""Run the loads on this machine, with a command as the offender: the same as `wblab live`."""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - the user may have an older one
    sys.exit("live_experiment.py: needs Python 3.11 or later: run it with python3.x")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from wblab.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["live", *sys.argv[1:]]))
