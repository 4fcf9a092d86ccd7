"""`python3 -m wblab`: the same as the wblab command."""

import sys

from wblab.cli import main

sys.exit(main())
