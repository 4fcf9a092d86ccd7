import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest
from support.leftout import is_permitted

from wblab.lab.places import ROOT

TESTS = """
import pytest

def test_a():
    pytest.skip("needs root, to be another user")

def test_b():
    pytest.skip("needs root, to be another user")

def test_c():
    pytest.skip("{reason}")

@pytest.mark.skipif(True, reason="{reason}")
def test_d():
    pass

@pytest.mark.xfail
def test_e():
    assert False
"""


@pytest.fixture
def tests(tmp_path):
    """Return what runs the tests above with a reason, and returns how that ended and what was left out."""
    place = tmp_path / "tests"
    place.mkdir()
    (place / "conftest.py").write_text('pytest_plugins = ["support.leftout"]')

    def run(reason, *arguments):
        (place / "test_these.py").write_text(TESTS.format(reason=reason))
        options = [f"--override-ini=pythonpath={ROOT}/tests", "--left-out", "left-out.txt", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, *arguments, "tests"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done, (tmp_path / "left-out.txt").read_text()

    return run


@pytest.mark.parametrize("arguments", [(), ("-n1",)])
def test_what_is_left_out_is_listed_with_its_reason(tests, arguments):
    done, summary = tests("no Chromium is installed", *arguments)
    assert done.returncode == 0, done.stdout
    assert summary.splitlines() == [
        "   2 of tests/test_these.py: needs root, to be another user",
        "   2 of tests/test_these.py: no Chromium is installed",
    ]
    assert summary in done.stdout


def test_another_reason_is_a_failure(tests):
    done, _ = tests("it does not work today")
    assert done.returncode == 1
    assert "1 failed, 2 skipped, 1 xfailed, 1 error" in done.stdout
    assert done.stdout.count("does not permit: it does not work today") >= 2


def test_nothing_left_out_is_said_too(tests):
    done, summary = tests("", "-k", "test_e")
    assert summary == ""
    assert "nothing was left out" in done.stdout


def reasons(source: str) -> Iterator[str]:
    """Yield the reasons for which the tests of a file may be skipped; what only a run can tell stands as 1."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("pytest.skip", "pytest.mark.skipif"):
            given = [word.value for word in call.keywords if word.arg == "reason"] or call.args[:1]
            for reason in given:
                if isinstance(reason, ast.Constant):
                    yield reason.value
                elif isinstance(reason, ast.JoinedStr):
                    yield "".join(part.value if isinstance(part, ast.Constant) else "1" for part in reason.values)


@pytest.mark.parametrize("folder", ["unit", "uml", "bench", "support"])
def test_every_reason_in_the_tests_is_permitted(folder):
    """Also those that no machine of ours has."""
    found = {
        reason
        for path in (ROOT / "tests" / folder).rglob("*.py")
        if path.name != "test_leftout.py"
        for reason in reasons(path.read_text())
    }
    assert found
    assert [reason for reason in sorted(found) if not is_permitted(reason)] == []
