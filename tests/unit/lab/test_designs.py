"""What is known of the designs of studies without loading them."""

import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec

import pytest

from wblab.claims.sources.registry import WORKS
from wblab.lab.designs import STUDY_AGAIN, Design, designs, names
from wblab.lab.places import DESIGNS
from wblab.study.asked import StudyRequest

FORMS = {field.name: type(field.default) for field in fields(Design) if isinstance(field.default, str | bool | tuple)}


def test_each_folder_is_a_design():
    folders = [path.parent.name for room in DESIGNS for path in room.glob("*/make.py")]
    assert {*folders} == designs().keys()
    assert len({design.rank for design in designs().values()}) == len(designs())


@pytest.mark.parametrize("name", designs())
def test_its_table_is_of_the_right_types(name):
    design = designs()[name]
    assert all(isinstance(getattr(design, field), form) for field, form in FORMS.items())
    assert {*design.plan, *design.call} <= {field.name for field in fields(StudyRequest)}
    assert name == import_module(design.package).NAME


@pytest.mark.parametrize("name", [name for name, design in designs().items() if design.is_of_study])
def test_what_the_verb_makes_has_the_module_that_makes_it(name):
    assert find_spec(f"{designs()[name].package}.make")
    assert designs()[name].again in ("", STUDY_AGAIN)


def test_the_works_are_those_whose_claims_there_are():
    assert [name for design, name, _ in names() if design == "verify"] == list(WORKS)


def test_names_are_distinct():
    found = [name for _, name, _ in names()]
    assert len(set(found)) == len(found)


def test_naming_them_loads_none():
    program = "import sys, wblab.lab.designs as it; list(it.names()); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "wblab.study" not in loaded
    assert "numpy" not in loaded
