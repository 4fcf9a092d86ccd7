"""Notebooks are stored as they are written: their results come from the reader's own run."""

import ast

import nbformat
import pytest

from wblab.lab.places import ROOT

NOTEBOOKS = sorted((ROOT / "analysis").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_stored_without_output(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_logic_is_in_the_package(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    source = "\n".join(line for cell in cells for line in cell.splitlines() if not line.startswith("%"))
    kinds = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While)
    assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_they_import_the_public_names_and_what_stands_beside_them(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    nodes = list(ast.walk(ast.parse("\n".join(cells))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert names <= {"pandas", "wblab", *(module.stem for module in path.parent.glob("*.py"))}


def test_there_are_some():
    assert {"timeline.ipynb", "throttling.ipynb"} <= {path.name for path in NOTEBOOKS}
