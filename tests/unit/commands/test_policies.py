"""wblab mitigate --list: what each policy does, and whether its setting was tried outside of User Mode Linux."""

import json

import pytest

from wblab.cli import main
from wblab.live.mitigate.configuration import POLICIES


@pytest.fixture
def listed(capsys, tmp_path):
    """Return a function that lists the policies, and returns what was printed."""
    (tmp_path / "none.toml").touch()

    def run(*arguments):
        assert main(["mitigate", "--list", "--config", str(tmp_path / "none.toml"), *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_every_policy_is_listed_and_the_default_s_marked(listed):
    found = {one["policy"]: one for one in json.loads(listed("--json"))}
    assert tuple(found) == POLICIES
    assert {name for name, one in found.items() if one["used"]} == {
        "short-queue-always",
        "strict-limit-beside",
        "io.max",
    }
    assert found["dirty-bytes"]["confirmed"][0] == "Tried outside of User Mode Linux:"
    assert found["idle"]["confirmed"] == ["Nothing of this kind was tried outside of User Mode Linux."]
    assert found["io.max"]["does"].endswith(", on a disk with a write cache")


def test_what_was_confirmed_is_said_of_the_policies_that_are_used(listed):
    said = listed("--policy", "idle")
    assert "\n*idle   " in said
    assert "\nidle: Nothing of this kind was tried outside of User Mode Linux.\n" in said
    assert "short-queue-always: " not in said


def test_a_policy_that_does_not_exist_is_refused(capsys):
    assert main(["mitigate", "--list", "--policy", "idel"]) == 2
    assert "'idel' is not one of" in capsys.readouterr().err
