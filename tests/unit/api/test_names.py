"""The package's public names: typed, documented, and imported only when they are used."""

import ast
import re
import subprocess
import sys

import wblab
from wblab.lab.places import ROOT


def public() -> set[str]:
    return set(dir(wblab)) - {"__version__"}


def test_each_name_is_there_and_says_what_it_is():
    for name in public():
        found = getattr(wblab, name)
        assert found.__doc__, name
        assert found.__module__.startswith("wblab.")


def test_type_checkers_and_the_page_know_the_same_names():
    stub = ast.parse((ROOT / "wblab/__init__.pyi").read_text())
    typed = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == public()
    page = (ROOT / "docs/reference/python.md").read_text()
    assert {name for name in public() if not re.search(rf"`(wblab\.)?{name}\b", page)} == set()


def test_importing_it_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import wblab; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "wblab\n"
