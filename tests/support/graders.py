"""The hidden tests of the examples for otter-grader and nbgrader, as their graders would run them."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from wblab.lab.places import ROOT

GRADERS = ROOT / "misc/graders"
_NOTEBOOKS = {"otter": "otter/lock-up.ipynb", "nbgrader": "nbgrader/source/lock-up/lock-up.ipynb"}


def hidden_tests(grader: str) -> dict[str, Callable[[], None]]:
    """Return the hidden tests of an example, by the questions that they grade."""
    cells = json.loads((GRADERS / _NOTEBOOKS[grader]).read_text())["cells"]
    found = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if grader == "nbgrader":
            assert source.startswith("### BEGIN HIDDEN TESTS\n")
            assert source.endswith("### END HIDDEN TESTS")
            found[cell["metadata"]["nbgrader"]["grade_id"]] = partial(exec, source, {})
        else:
            assert re.search(r"BEGIN TEST CONFIG\nhidden: true\n", source)
            defined: dict[str, object] = {}
            exec(source, defined)
            found.update({name.removeprefix("test_"): it for name, it in defined.items() if name.startswith("test_")})
    return found


@contextmanager
def imported(module: str) -> Iterator[None]:
    """Let a module be imported in the block, and forget it afterwards."""
    sys.modules.pop(module, None)
    try:
        yield
    finally:
        sys.modules.pop(module, None)
