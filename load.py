#!/usr/bin/env python3
"""Run one load on this machine: the same as `wblab load`."""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - the user may have an older one
    sys.exit("load.py: needs Python 3.11 or later: run it with python3.x")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from wblab.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["load", *sys.argv[1:]]))
