"""The mark slow_disk, with a program in the place of `wblab on` that runs the command here, as a guest would there."""

import json
import subprocess
import sys

import pytest

from wblab.lab.places import ROOT

pytest_plugins = ["pytester"]

ON = """
import json, os, subprocess, sys
options, command = sys.argv[2 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
with open("asked", "a") as file:
    print(json.dumps(options), file=file)
if "nowhere" in options:
    sys.exit("wblab: no disk 'nowhere'")
own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_DEBUG")}
there = dict(option[6:].split("=", 1) for option in options if option.startswith("--env="))
code = subprocess.run(command, env=own | there | {"IN_GUEST": "1"}).returncode
over = "--limit=1ms" in options
call = {"time_ns": 2_000_000 if over else 0}
told = {"directory": "exp/1", "notes": [], "longest": call, "told": "fsync of python, 2 ms", "why": "wblab why exp/1"}
print(json.dumps(told | {"exit_code": code, "over_limit": over}, indent=2), file=sys.stderr)
"""
SLOW = "import os, sys, time, warnings, pytest\nslow = pytest.mark.slow_disk\n"


@pytest.fixture
def project(pytester, monkeypatch):
    """A directory of tests, whose `wblab on` is the one above."""
    package = pytester.path / "fake" / "wblab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"__path__.append({str(ROOT / 'wblab')!r})\n")
    (package / "__main__.py").write_text(ON)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # others than the plugin take long to load
    return pytester


def outcome_of(project, text, *words):
    project.makepyfile(SLOW + text)
    return project.runpytest_inprocess("-p", "wblab.on.pytest_plugin", "-p", "no:cacheprovider", "-rA", *words)


def asked(project):
    return [json.loads(line) for line in (project.path / "asked").read_text().splitlines()]


def test_outcomes_output_and_parameters_are_those_of_any_test(project):
    done = outcome_of(
        project,
        """
pytestmark = slow("ram")
@pytest.fixture(scope="module")
def made():
    print("made"); yield 1; print("unmade")
@pytest.mark.parametrize("a", [1, "a::b/c"])
def test_it(a, made, tmp_path, record_property):
    record_property("where", str(tmp_path))
    warnings.warn(DeprecationWarning("old"))
    print("printed"); print("also", file=sys.stderr)
    assert os.environ["IN_GUEST"]
    assert {"a": a} == {"a": 1}
@pytest.mark.skip(reason="not today")
def test_skipped(): ...
@pytest.mark.xfail(reason="known")
def test_expected(): assert 0
class TestMore:
    def test_method(self): ...
import unittest
class TestOld(unittest.TestCase):
    def test_old(self): self.assertEqual(1, 1)
""",
        "--junitxml=found.xml",
    )
    done.assert_outcomes(passed=3, failed=1, skipped=1, xfailed=1, warnings=2)
    expected = [
        "*_ test_it?a::b/c? _*",
        ">*assert {?a?: a} == {?a?: 1}",
        "E*Differing items:",
        "*Captured stdout setup*",
        "made",
        "*Captured stdout call*",
        "printed",
        "*Captured stderr call*",
        "also",
        "*slow disk*",
        "run: exp/1",
        "*DeprecationWarning: old",
        "SKIPPED*not today",
        "XFAIL*known",
        "FAILED *test_it?a::b/c?*",
    ]
    done.stdout.fnmatch_lines(expected)
    assert '<property name="where"' in (project.path / "found.xml").read_text()


def test_over_the_limit_a_test_has_failed_where_it_stands(project):
    done = outcome_of(
        project,
        """
@slow("sd-card", beside="copy", limit="1ms", set=["a=1", "b=2"], tracked=True, size=None)
def test_long(): ...
@pytest.mark.xfail(reason="known")
@slow("sd-card", limit="1ms")
def test_expected(): ...
@pytest.mark.xfail(strict=True)
@slow("sd-card", limit="1ms")
def test_strict(): ...
""",
        "--tb=line",
    )
    done.assert_outcomes(failed=1, xfailed=2)
    done.stdout.fnmatch_lines(["fsync of python, 2 ms", "wblab why exp/1", "run: exp/1", f"{project.path}/*.py:4: *"])
    first = asked(project)[0]
    assert [word for word in first if not word.startswith(("--env", "--dir", "--exp"))] == [
        "sd-card", "--beside=copy", "--limit=1ms", "--set=a=1", "--set=b=2", "--tracked", "--json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said", "outcome"),
    [
        ('@slow("nowhere")\ndef test_it(): ...', "slow_disk: no disk 'nowhere'", "errors"),
        ("@slow\ndef test_it(): ...", 'slow_disk: give one disk, as in @pytest.mark.slow_disk("sd-card")', "errors"),
        ('@slow("ram", seeds=2)\ndef test_it(): ...', "slow_disk: seeds is no option of the mark: *", "errors"),
        ('@slow("ram")\ndef test_it(): os._exit(7)', "pytest in the guest ended with exit code 7", "failed"),
        (
            'if "IN_GUEST" in os.environ: import nothing\n@slow("ram")\ndef test_it(): ...',
            "E*No module named 'nothing'",
            "errors",
        ),
    ],
)
def test_what_cannot_be_run_is_said_without_a_traceback_of_the_lab(project, text, said, outcome):
    done = outcome_of(project, text)
    done.assert_outcomes(**{outcome: 1})
    done.stdout.fnmatch_lines([said])
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_several_seeds_are_several_tests(project):
    done = outcome_of(project, '@slow("ram", seed=4)\ndef test_it(): ...\ndef test_other(): ...', "--slow-disk-seeds=2")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(["PASSED *::test_it?seed0?", "PASSED *::test_it?seed1?", "PASSED *::test_other"])
    assert [word for words in asked(project) for word in words if word.startswith("--seed")] == ["--seed=4", "--seed=5"]


def test_what_other_tests_set_up_ends_when_it_should(project):
    project.makepyfile(test_z="def test_last(): print('next module')")
    done = outcome_of(
        project,
        """
@pytest.fixture(scope="module", autouse=True)
def made():
    print("made"); yield; print("unmade", "IN_GUEST" in os.environ)
def test_here(): ...
@slow("ram")
def test_there(): print("of the guest")
""",
        "-s",
    )
    done.assert_outcomes(passed=3)
    order = ["*made", "*made", "of the guest", "*unmade True", "*unmade False", "*next module"]
    done.stdout.fnmatch_lines(order)


def test_beside_xdist_and_options_of_many_tests(project):
    project.makeini("[pytest]\naddopts = -p xdist -n 2 --strict-markers -m 'not other'\nmarkers = other")
    text = 'import pytest\n@pytest.mark.slow_disk("ram")\n@pytest.mark.parametrize("a", [1, 2])\ndef test_it(a): ...'
    project.makepyfile(text)
    done = project.runpytest_subprocess("-p", "wblab.on.pytest_plugin", "-x", "-k", "test_it")
    done.assert_outcomes(passed=2)
    assert len(asked(project)) == 2


def test_the_mark_and_the_option_are_described(project):
    done = project.runpytest_inprocess("-p", "wblab.on.pytest_plugin", "--markers")
    done.stdout.fnmatch_lines(["@pytest.mark.slow_disk(disk, [*][*]options): *"])
    done = project.runpytest_inprocess("-p", "wblab.on.pytest_plugin", "--help")
    done.stdout.fnmatch_lines(["*--slow-disk-seeds=N*"])


def test_whoever_has_no_test_with_the_mark_pays_for_two_small_modules():
    code = "import sys, pytest; import wblab.on.pytest_plugin; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = ["wblab", "wblab.on", "wblab.on.pytest_inside", "wblab.on.pytest_plugin"]
    assert sorted(name for name in said if name.partition(".")[0] == "wblab") == ours
    assert not {"numpy", "matplotlib", "rich"} & set(said)
