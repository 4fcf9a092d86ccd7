"""Tests with the mark slow_disk in real guests: outcome, virtual time, the limit, and the line that explains it."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from support.userproject import make_project

TESTS = """
import os, time, pytest
@pytest.mark.slow_disk("ram", kernel="7.2")
@pytest.mark.parametrize("seconds", [90])
def test_long(seconds, tmp_path):
    assert tmp_path.stat().st_dev == os.stat(".").st_dev != os.stat("/tmp").st_dev
    time.sleep(seconds)
@pytest.mark.slow_disk("sd-card", beside="copy", limit="200ms", kernel="7.2")
def test_saved(tmp_path):
    with open(tmp_path / "made", "wb") as file:
        file.write(bytes(1 << 20))
        file.flush()
        os.fsync(file.fileno())
@pytest.mark.slow_disk("ram", kernel="7.2")
def test_equal(): assert {"a": 1} == {"a": 2}
@pytest.mark.slow_disk("ram", kernel="7.2", size="1MiB")
def test_large(): ...
"""


@pytest.fixture(scope="module")
def done(kernel, tmp_path_factory):
    """All of them, in an environment that has pytest, as a project of a user has one."""
    place = tmp_path_factory.mktemp("project")
    programs = make_project(place)
    (place / "test_it.py").write_text(TESTS)
    words = ("-p", "wblab.on.pytest_plugin", "-p", "no:cacheprovider", "--durations=0", "--durations-min=1", "-ra")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "WBLAB_EXP"))}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [programs / "python", "-m", "pytest", f"--basetemp={place.parent / 'exp'}", *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=900)


def test_a_test_takes_as_long_as_in_the_guest_and_its_files_are_on_the_disk(done):
    assert re.search(r"^90\.\d\ds call +test_it\.py::test_long\[90\]$", done.stdout, re.M), done.stdout


def test_a_call_over_the_limit_fails_the_test_and_is_explained(done):
    failed = re.search(
        r"_ test_saved _+\n(fsync of python3?, (\S+) s, at .* s: over the limit of 200 ms)\n", done.stdout
    )
    assert failed, done.stdout
    assert float(failed[2]) > 2  # the copy is in front of it
    why = shlex.split(re.search(r"^wblab (why .*)$", done.stdout, re.M)[1])
    explained = subprocess.run(
        [sys.executable, "-m", "wblab", *why], capture_output=True, text=True, check=False, timeout=300
    )
    assert (explained.returncode, "fsync" in explained.stdout) == (0, True), explained


def test_assertions_are_rewritten_and_what_cannot_run_is_a_line(done):
    assert re.search(r"^E +AssertionError: assert \{'a': 1\} == \{'a': 2\}$", done.stdout, re.M), done.stdout
    assert re.search(r"_ ERROR at setup of test_large _+\nslow_disk: .* more than half of the disk: raise", done.stdout)
    assert "2 failed, 1 passed, 1 error" in done.stdout
