"""What CONTRIBUTING says of a new design: one folder, and the lab lists it, makes its studies and goes on with them."""

import json
import os
import subprocess
import sys

import pytest
from support.labcopy import copy_lab

FILES = {
    "__init__.py": 'NAME = __name__.rpartition(".")[2]\n',
    "design.toml": """
rank = 99
noun = "greeting"
own = ["hello"]
called = "a greeting"
keys = ["greeting"]
plan = ["seeds"]
""",
    "make.py": """
from wblab.report.report import Report
from wblab.study.asked import StudyAnswer
from wblab.study.begin import Planned, begun
from wblab.study.designs.greet import NAME
from wblab.study.plan import Plan
from wblab.study.run import run_store


def make(asked):
    plan = Plan("greeting", tuple(range(1, (asked.seeds or 1) + 1)), (), design=NAME, about={"what": asked.what})
    planned = Planned.again(asked, NAME, None) if asked.resume else Planned(plan, {})
    with begun(asked, None, planned) as (store, _):
        run_store(store, None, asked.jobs)
    asked.note(f"greeted {len(store.plan.seeds)} times")
    return StudyAnswer(store.path, report_of(store), (store.path,))


def report_of(store):
    return Report("A greeting", f"Of {store.plan.about['what']}.", (), data={"directory": str(store.path)})
""",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A copy of the lab with the folder of one more design; returns what a verb of it prints."""
    copy = copy_lab(tmp_path_factory.mktemp("lab"))
    folder = copy / "wblab/study/designs/greet"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (copy / "own.toml").write_text('greeting = "good morning"\n')
    environment = os.environ | {"PYTHONPATH": f"{copy}:{copy / 'misc'}", "WBLAB_EXP": str(copy / "exp")}

    def wblab(*words):
        command = [sys.executable, "-m", "wblab", *words]
        return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)

    return wblab


def test_it_is_listed(lab):
    assert {"name": "hello", "design": "greet", "what": "a greeting"} in json.loads(
        lab("study", "--list", "--json").stdout
    )


@pytest.mark.parametrize("what", ["hello", "own.toml"])
def test_a_study_of_it_is_made_by_its_name_and_by_its_file(what, lab):
    made = lab("study", what, "--seeds", "2")
    assert made.stdout.splitlines()[0] == f"Of {what}."
    assert "wblab: greeted 2 times\n" in made.stderr
    assert lab("study", made.stdout.splitlines()[-1]).stdout == made.stdout  # asked of its directory
    assert "greeting" in lab("runs").stdout


def test_it_refuses_what_it_does_not_take_and_resumes_what_it_began(lab):
    assert "--disk is for twin, and this is greeting: leave it out" in lab("study", "hello", "--disk", "x").stderr
    made = lab("study", "hello")
    again = lab("study", "--resume", "latest")
    assert (again.returncode, again.stdout) == (0, made.stdout)
