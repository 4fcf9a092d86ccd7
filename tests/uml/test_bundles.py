"""Bundles of real runs: opened elsewhere they are repeated to the bit, and a hostile spec reads nothing of the user."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from support.quickruns import SECONDS

from wblab.cli import main
from wblab.host.sandbox import landlock_version
from wblab.lab import cache

SETTINGS = [word for setting in SECONDS for word in ("--set", setting)]


@pytest.fixture
def wblab(capsys):
    """Run the command; return its exit code and what it printed."""

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def home(monkeypatch):
    """A home with a private key, where a guest sees the files of the host: it has a /tmp of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-test-") as name:
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache.home().parent))
        monkeypatch.setenv("HOME", name)
        Path(name, "id_ed25519").write_text("PRECIOUS")
        yield Path(name)


def test_a_run_is_repeated_elsewhere_to_the_bit(shared_lab, kernel, tmp_path, wblab):
    run = shared_lab.run("base-device", *SECONDS)
    file, place = tmp_path / "run.wblab", tmp_path / "elsewhere"
    assert wblab("pack", run.path, "-o", file)[0] == 0
    code, output, errors = wblab("repeat", file, "--exp", place)
    assert code == 0, errors
    assert output.splitlines()[0] == "Identical: every cycle of every load, and every event."
    kept, made = sorted(place.iterdir())
    assert wblab("repeat", kept, made, "--exp", place)[0] == 0
    assert wblab("why", kept)[0] == 0


def test_a_false_run_is_found_out(shared_lab, kernel, tmp_path, wblab):
    """Measurements that fit each other, and that no run has given."""
    run = shared_lab.run("base", *SECONDS)
    false = shutil.copytree(run.path, tmp_path / "false")
    times = bytearray((false / "load.w1.npy").read_bytes())
    times[-8] ^= 1  # the last boundary, by 1 ns
    (false / "load.w1.npy").write_bytes(times)
    assert wblab("pack", false, "-o", tmp_path / "a.wblab")[0] == 0
    code, output, errors = wblab("repeat", tmp_path / "a.wblab", "--exp", tmp_path / "elsewhere")
    assert code == 1
    assert "load w1, boundary" in output
    assert errors.splitlines()[-1].startswith("wblab: the runs differ, first at ")


def test_a_study_is_opened_and_repeated_elsewhere(kernel, tmp_path, wblab):
    changed = dict(setting.partition("=")[::2] for setting in SECONDS)
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in changed.items()]
    axes = '[axes]\n"disk.scheduler" = ["none", "bfq"]\n'
    (tmp_path / "small.toml").write_text("\n".join(['base = "base-device"', "seeds = 2", "[set]", *lines, axes]))
    assert wblab("study", tmp_path / "small.toml", "--exp", tmp_path / "exp")[0] == 0
    (study,) = (tmp_path / "exp").iterdir()
    assert wblab("pack", study, "-o", tmp_path / "s.wblab")[0] == 0
    place = tmp_path / "elsewhere"
    code, output, errors = wblab("repeat", tmp_path / "s.wblab", "--run", "1-bfq/2", "--exp", place)
    assert code == 0, errors
    assert output.splitlines()[0] == "Identical: every cycle of every load, and every event."
    assert wblab("compare", place / study.name)[0] == 0


@pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")
def test_a_spec_from_somebody_else_reads_nothing_of_the_user(lab, home, tmp_path, wblab):
    key = home / "id_ed25519"
    reads = f"cat {key} /mnt/host{key}; ls {home}; cp {key} ."
    script = f"trap 'exit 0' TERM; echo began; {reads}; while true; do sleep 0.1; done"
    run = lab.run("base", *SECONDS, f"agent.spy.argv={json.dumps(['sh', '-c', script])}")
    assert wblab("pack", run.path, "-o", tmp_path / "a.wblab")[0] == 0
    place = tmp_path / "elsewhere"
    code, _, errors = wblab("repeat", tmp_path / "a.wblab", "--exp", place)
    assert code == 0, errors
    files = [path for path in place.rglob("*") if path.is_file()]
    logs = [path.read_text() for path in files if path.name == "agent.spy.log"]
    assert len(logs) == 2
    assert all(log.startswith("began\n") for log in logs)
    assert not [path for path in files if b"PRECIOUS" in path.read_bytes()]
