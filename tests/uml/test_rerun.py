"""wblab repeat on the command line."""

import json

import pytest

from wblab.cli import main
from wblab.study.designs.audit.golden import SPEC, judge, read_golden, seen

SHORT = ("load.l1.size=30MiB", "load.l2.wait=15s", "load.l2.size=1MiB")


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run("base", *SHORT)


@pytest.fixture
def verb(run, shared_lab, capsys):
    """Return a function that repeats the run on the tests' kernel."""

    def repeat(*arguments):
        place = ("--exp", str(run.path.parent), "--kernel", str(shared_lab.kernel.path))
        return main(["repeat", str(run.path), *place, *arguments]), *capsys.readouterr()

    return repeat


def test_a_rerun_is_identical(verb):
    code, output, errors = verb()
    assert code == 0, errors
    assert "Identical: every cycle of every load, and every event." in output


def test_fully_traced_reruns_are_identical(verb):
    code, output, errors = verb("--explain", "--json")
    assert code == 0, errors
    assert json.loads(output)["differences"] == []


def test_with_another_seed_the_first_difference_is_shown(verb, shared_lab):
    other = shared_lab.run("base", *SHORT, "seed=2")
    code, output, errors = verb(str(other.path))
    assert code == 1
    assert "load w1, boundary 0, at " in output
    assert errors.startswith("wblab: the runs differ, first at ")


def test_explain_and_with_cannot_be_combined(verb):
    code, _, errors = verb("--explain", "latest")
    assert (code, errors.count("\n")) == (2, 1)


def test_the_base_run_equals_the_golden_run(shared_lab):
    verdict = judge(read_golden(), seen(shared_lab.run(SPEC)))
    if verdict.excused:
        pytest.skip(f"no golden run for this machine: {verdict}")
    assert verdict.same, f"{verdict}: if that was meant, 'make golden'"
    print(verdict)
