#!/usr/bin/env python3
"""Run one load on this machine: ./load.py <name> <kind> [<parameter>…]."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from wblab.host.load import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
