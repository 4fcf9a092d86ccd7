"""What wblab mitigate says before it begins: whether its policy was tried outside of User Mode Linux."""

import json

import pytest

from wblab.cli import main
from wblab.commands.mitigate import settings_of
from wblab.live.mitigate.config import POLICIES
from wblab.study.designs.witness import kept


@pytest.fixture
def dry(monkeypatch, capsys, tmp_path):
    """Return a function that starts a dry run whose daemon does nothing, and returns what was printed."""
    monkeypatch.setattr("wblab.live.mitigate.service.serve", lambda *_, **__: None)
    monkeypatch.setattr("wblab.live.mitigate.install.check_install", lambda _: None)
    monkeypatch.setattr("wblab.live.mitigate.config.DEFAULT_FILE", tmp_path / "none.toml")

    def run(*arguments):
        assert main(["mitigate", "--dry-run", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_the_default_policy_was_confirmed_but_for_what_caches_get(dry):
    tried, untried = dry()
    assert "note: Tried outside of User Mode Linux, on Linux 7.2" in tried
    assert "With a queue of 4 requests" in tried
    assert "With a strict limit of 5 %" in tried
    assert untried.endswith("note: Nothing of this kind was tried outside of User Mode Linux: io.max.")


def test_an_io_class_was_never_tried(dry):
    (untried,) = dry("--policy", "idle")
    assert untried.endswith("User Mode Linux: idle, io.max.")


def test_in_json_it_is_a_field_of_the_first_line(dry):
    first, second = map(json.loads, dry("--json"))
    assert list(first["confirmed"]) == ["short-queue-always", "strict-limit-beside", "io.max"]
    assert first["confirmed"]["io.max"] == ["Nothing of this kind was tried outside of User Mode Linux."]
    assert first["confirmed"]["strict-limit-beside"][0] == "Tried outside of User Mode Linux:"
    assert "confirmed" not in second
    assert first.keys() - second.keys() == {"confirmed"}


def test_without_the_labs_experiments_the_daemon_says_nothing_and_starts(dry, monkeypatch, tmp_path):
    monkeypatch.setattr(kept.about, "__defaults__", (tmp_path,))
    assert dry() == []


@pytest.mark.parametrize("policy", POLICIES)
def test_each_policy_but_an_io_class_has_settings(policy):
    assert bool(settings_of(policy)) == (policy not in ("idle", "best-effort-7"))
