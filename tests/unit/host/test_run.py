import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.scripted import scripted

from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.host.guestmemory import boot_bytes
from wblab.host.recorded import RunFailedError
from wblab.host.request import Request
from wblab.host.run import expected_duration_ns, run_experiment

SPEC = from_table(
    Spec,
    {
        "name": "small",
        "memory": "64MiB",
        "disk": {"size": "8MiB", "write_bps": "1MiB/s"},
        "load": {
            "c1": {"kind": "control", "idle": "50ms"},
            "l1": {"kind": "load", "file": "l1", "wait": "1s", "size": "4MiB", "block": "1KiB"},
        },
    },
)
GOOD = """
parameters = json.load(open(f"{scratch}/guest.json"))
assert sorted(os.listdir(scratch)) == ["experiment.pyz", "guest.json", "left"]
assert os.fstat(12).st_size == 8 << 20
json.dump(parameters, open(f"{scratch}/agent.seen.log", "w"))
say("mounts", 0)
say("loads", 5 * 10**9, start_ns=5 * 10**9)
say("loads", 7 * 10**9, reserved_bytes=8192, available_bytes=64 << 20)
say("power off", 9 * 10**9)
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch, shm):
    """Make a script in place of a kernel."""
    return scripted(tmp_path, monkeypatch, "wblab.host.run")


def test_a_successful_run_is_recorded(kernel, tmp_path):
    heard = []
    finished = run_experiment(Request(SPEC, kernel(GOOD)), tmp_path / "exp", report=lambda *words: heard.append(words))
    assert finished.directory.parent == tmp_path / "exp"
    assert finished.directory.name.endswith("_small")
    assert not finished.directory.name.startswith("_")
    record = json.loads((finished.directory / "experiment.json").read_text())
    assert record == json.loads(json.dumps(finished.record))
    assert list(record) == [
        *("format", "kind", "spec", "seed", "kernel", "left_out", "guest", "host"),
        *("start", "end", "wall_s", "guest_s", "outcome", "reason", "memory"),
    ]
    assert len(record["guest"]["program_sha256"]) == 64
    assert (record["outcome"], record["reason"], record["guest_s"]) == ("succeeded", "", 9.0)
    assert record["memory"] == {"boot_bytes": boot_bytes(SPEC), "reserved_bytes": 8192, "available_bytes": 64 << 20}
    assert from_table(Spec, record["spec"], exact=True) == SPEC
    seen = json.loads((finished.directory / "agent.seen.log").read_text())
    assert seen["spec"] == record["spec"] | {"name": "", "kernel": ""}  # not needed by the guest
    assert list(dict.fromkeys(share for share, _ in heard if share is not None)) == [0.0, 0.5]  # some come twice
    assert heard[-1] == (None, "powering off")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("say('failed', reason='a reason'); say('power off')", "a reason"),
        ("print('Kernel panic - not syncing: Oops'); sys.exit(1)", "Kernel panic - not syncing: Oops"),
        ("os.write(13, b'nonsense\\n')", "an invalid message"),
    ],
)
def test_a_failed_run_keeps_its_staged_name_and_the_reason(kernel, tmp_path, code, reason):
    with pytest.raises(RunFailedError) as raised:
        run_experiment(Request(SPEC, kernel(code)), tmp_path / "exp")
    (staged,) = (tmp_path / "exp").iterdir()
    assert staged.name.startswith("_")
    record = json.loads((staged / "experiment.json").read_text())
    assert record["outcome"] == "failed"
    assert reason in record["reason"]
    assert record["end"]
    assert str(staged) in str(raised.value)
    assert (staged / "console.log").exists()


def test_an_interrupted_run_is_recorded_as_such(kernel, tmp_path):
    def interrupt(share, text):
        if text.startswith("running"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(Request(SPEC, kernel(GOOD + "while True: pass")), tmp_path / "exp", report=interrupt)
    (staged,) = (tmp_path / "exp").iterdir()
    record = json.loads((staged / "experiment.json").read_text())
    assert (record["outcome"], record["reason"]) == ("failed", "interrupted")


def test_a_run_with_a_silent_guest_can_be_interrupted(kernel, tmp_path):
    said = []

    def interrupt(share, text):
        said.append(text)
        if said.count("mounting the guest's filesystems") > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(Request(SPEC, kernel('say("mounts"); time.sleep(600)')), tmp_path / "exp", report=interrupt)


def test_a_disk_that_cannot_be_made_is_a_failed_run(kernel, tmp_path):
    spec = replace(SPEC, disk={"disk": replace(SPEC.disk["disk"], mkfs_options=("-O", "no_such_feature"))})
    with pytest.raises(RunFailedError, match=r"disk\.mkfs_options"):
        run_experiment(Request(spec, kernel(GOOD)), tmp_path / "exp")


@pytest.mark.parametrize("results", ["file/exp", "file"])
def test_an_unwritable_results_directory_is_one_error(kernel, tmp_path, results):
    (tmp_path / "file").touch()
    with pytest.raises(WblabError, match="file"):
        run_experiment(Request(SPEC, kernel(GOOD)), Path(tmp_path, results))


def test_the_expected_time_follows_the_disk_or_the_longest_wait():
    assert expected_duration_ns(SPEC) == 4 * 10**9
    offender = replace(SPEC.load["l1"], wait=60 * 10**9)
    assert expected_duration_ns(replace(SPEC, load={"l1": offender})) == 60 * 10**9
