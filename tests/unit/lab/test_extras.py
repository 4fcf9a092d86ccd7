"""The core runs, draws and explains with few packages; other verbs request their extras with the command to run."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.corealone import command
from support.runs import MS, S, write_run
from support.versions import locked, lowest, requirements

from wblab.cli import VERBS
from wblab.core.errors import InputError
from wblab.lab import extras
from wblab.lab.extras import MODULES, Installation, missing_extra, require
from wblab.lab.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = {"matplotlib", "numpy", "rich", "shtab", "zstandard"}
OURS = {"wblab", "tracecmd"}
SOURCES = [*(ROOT / "wblab").glob("**/*.py"), *(ROOT / "misc/tracecmd").glob("*.py")]


def core_alone(*arguments):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "misc")])}
    return subprocess.run(command(*arguments), env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def small_run(tmp_path):
    times = [0, 100 * MS, 200 * MS, 1700 * MS, 1800 * MS]
    return write_run(tmp_path / "run", {"c1": [0, 50 * MS], "w1": [0, S], "mw1": times})


def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}


def test_the_core_is_small():
    assert {Requirement(text).name for text in PROJECT["dependencies"]} == CORE
    assert set(extras.CORE) == CORE | OURS - {"wblab"}


def test_every_package_is_in_the_core_or_in_an_extra():
    known = CORE | OURS | set(sys.stdlib_module_names) | {name for modules in MODULES.values() for name in modules}
    assert set().union(*map(imported, SOURCES)) - known == set()


def test_extras_equal_those_of_the_package():
    assert set(MODULES) | {"dev"} == set(PROJECT["optional-dependencies"])


def test_every_package_has_a_range_that_holds_its_locked_version():
    names = [one.name for one in requirements()]
    assert len(names) == len(set(names)), "one package, two ranges"
    for one in requirements():
        assert {bound.operator for bound in one.specifier} == {">=", "<"}, one
        assert one.specifier.contains(locked()[one.name.lower()]), one


def test_the_kernel_s_wheel_is_that_of_this_version():
    assert PROJECT["optional-dependencies"]["kernel"] == [f"wblab-kernel=={PROJECT['version']}"]


@pytest.mark.parametrize("project", ["pyproject.toml", "misc/kernel-wheel/pyproject.toml"])
def test_what_builds_a_wheel_is_the_locked_version(project):
    system = tomllib.loads((ROOT / project).read_text())["build-system"]
    assert system["requires"] == [f"hatchling=={locked()['hatchling']}"]


def test_tools_are_only_locked():
    tools = [one for one in requirements(tools=True) if not one.specifier]
    assert "hypothesis" in {one.name for one in tools}
    assert {one.name.lower().replace("_", "-") for one in tools} <= set(locked())


def test_the_lower_ends_are_constraints():
    assert "numpy==2.0" in lowest(requirements())
    assert len(lowest(requirements())) == len(requirements())


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_s_help_needs_only_the_core(verb):
    done = core_alone(verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("verb", [["timeline"], ["why", "--pauses"], ["why", "--pauses", "--json"]], ids=" ".join)
def test_the_core_draws_and_prints_a_run(small_run, verb):
    done = core_alone(*verb, small_run)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("compare", "RUN", "RUN"), "explore"),
        (("matrix", "remedies"), "explore"),
        (("advise", "--dir", "/tmp"), "explore"),
        (("timeline", "RUN", "--format", "html"), "pages"),
        (("disk", "measure", "/tmp"), "live"),
        (("mitigate", "--dry-run"), "live"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_missing_extra_is_reported_with_the_next_step(small_run, arguments, extra):
    done = core_alone(*(small_run if one == "RUN" else one for one in arguments))
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "packages" in line]
    assert said == [done.stderr.splitlines()[-1]]
    assert f"[{extra}]" in said[0]
    assert "pip install" in said[0]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["why", "timeline", "pack"])
def test_a_python_without_the_core_s_packages_says_so_in_a_line(small_run, verb):
    done = subprocess.run(
        [sys.executable, "-S", "-m", "wblab", verb, str(small_run)],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert f"this Python ({sys.executable}) has no numpy: " in line
    assert f"{ROOT}/.venv/bin/wblab" in line


def test_a_module_belongs_to_the_extra_that_installs_it():
    assert missing_extra("markdown_it.token") == "pages"
    assert missing_extra("wblab.nothing") is None


@pytest.mark.parametrize(
    ("made_by", "begins"),
    [
        ("pipx_metadata.json", "pipx install --force "),
        ("uv-receipt.toml", "uv tool install --force "),
        ("", sys.executable),
    ],
)
def test_the_install_command_matches_the_installation(tmp_path, made_by, begins):
    if made_by:
        (tmp_path / made_by).write_text("")
    here = Installation(True, tmp_path, lambda extra: extra == "pages", lambda: " @ file:///src")
    with pytest.raises(InputError) as raised:
        require(["live"], here)
    said = str(raised.value).partition(": run ")[2]
    assert said.startswith(begins)
    assert said.endswith("'wblab[pages,live] @ file:///src'"), "what is there already stays"


@pytest.mark.parametrize(
    ("made_by", "begins"),
    [
        ("pipx_metadata.json", "pipx runpip wblab install "),
        ("uv-receipt.toml", "uv pip install --python "),
        ("", sys.executable),
    ],
)
def test_an_installation_with_a_packaged_kernel_is_added_to_as_it_is(tmp_path, made_by, begins):
    """Its wheels came from a directory, which is not recorded."""
    if made_by:
        (tmp_path / made_by).write_text("")
    here = Installation(True, tmp_path, lambda extra: extra == "kernel", lambda: " @ file:///src")
    said = extras.command(["live"], here)
    assert said.startswith(begins)
    assert said.endswith(" 'wblab[live,kernel]'")
