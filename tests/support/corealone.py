"""The lab without extras: python corealone.py runs `wblab` where no module of an extra can be imported."""

import importlib.abc
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

from wblab.lab.extras import MODULES

EXTRAS = frozenset(module for modules in MODULES.values() for module in modules)


class Missing(importlib.abc.MetaPathFinder):
    """Hides modules of extras, as if they were not installed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def command(*arguments: object) -> list[str]:
    """Return the command that runs a verb this way."""
    return [sys.executable, str(Path(__file__)), *map(str, arguments)]


if __name__ == "__main__":
    from wblab.cli import main

    sys.meta_path.insert(0, Missing())
    sys.exit(main(sys.argv[1:]))
