"""A stock kernel in QEMU stalls as the lab's own does; its runs repeat, and nothing is left of a failed one."""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
import tracecmd
from support.guestlab import Lab
from support.lottery import on_its_day, some
from support.midway import made
from support.processes import alive, descendants
from support.reproducers import FINDINGS, hand_on, missing
from support.waiting import wait_until

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run, read_run
from wblab.cli import main
from wblab.core.errors import InputError, WblabError
from wblab.core.rundir import TRACE
from wblab.host.request import make_run, ready
from wblab.host.sandbox import landlock_version
from wblab.kernels import built_kernel
from wblab.kernels.stock.drivers import MODULES_OF
from wblab.kernels.stock.stockkernel import find
from wblab.lab.formats import EXPERIMENT, RUNS
from wblab.lab.packages import tool_path
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.substrates.qemu import run as qemu_run
from wblab.substrates.qemu.run import EMULATOR

NAME = "stock:7.2"
# Some seconds of guest time, half of a minute of an idle machine's: a kernel for any machine boots slowly.
SHORT = ("memory=64MiB", "load.l1.wait=500ms", "load.l1.size=14MiB", "trace.lead=500ms")
SILENT = (*SHORT, "trace.events=[]")
MOST_COURSES = 4
FIRST = ("trace.events=[]", "load.l1.wait=500ms", "load.l1.size=1MiB", "load.l2.wait=500ms", "load.l2.size=64KiB")

# Each boots a kernel of its own, which takes a quarter of a minute: two are tried a day.
LONG = ("repeats", "processors", "refusal", "failure", "witness", "groups", "instructions")

pytestmark = [
    pytest.mark.skipif(tool_path(EMULATOR) is None, reason=f"QEMU is not installed: {EMULATOR}"),
    pytest.mark.skipif(find(NAME) is None, reason=f"the kernel {NAME} is not here: wblab kernel build --stock 7.2"),
]


def run(results: Path, *settings: str, kernel: str = NAME, preset: str = "two-disks") -> Run:
    spec = read_spec(SPECS.find(preset), [f"kernel={kernel!r}", *settings])
    return read_run(make_run(ready(spec, built_kernel), results).directory)


def of_a_day(name: str) -> pytest.MarkDecorator:
    return on_its_day(name, LONG, 2)


def longest_s(run: Run, load: str) -> float:
    return load_pauses(run.load(load), 0).longest_pause_s


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run(tmp_path_factory.mktemp("traced"), *SHORT)


def test_a_slow_disk_stalls_the_users_of_a_fast_one(traced):
    assert traced.record["kernel"]["release"].startswith("7.2.")
    assert traced.record["machine"]["processors"] == 1
    assert longest_s(traced, "w-fast") > 0.3
    assert longest_s(traced, "w-slow") > 0.3
    assert longest_s(traced, "c1") < 0.1


def test_why_explains_its_pauses(traced, capsys):
    assert main(["why", str(traced.path), "--json"]) == 0
    pauses = json.loads(capsys.readouterr().out)
    paused_ns = sum(pause["pause_ns"] for pause in pauses)
    assert {"w-slow", "w-fast"} <= {pause["load"] for pause in pauses}
    assert sum(pause["unexplained_ns"] for pause in pauses) < 0.1 * paused_ns
    assert sum(pause["parts"].get("throttled", 0) for pause in pauses) > 0.5 * paused_ns


def test_nothing_is_proved_where_time_is_that_of_instructions(traced, capsys):
    assert main(["why", str(traced.path), "--prove"]) == 2
    assert "prove that run" in capsys.readouterr().err
    assert main(["why", str(traced.path)]) == 0
    assert "--prove" not in capsys.readouterr().out


def course(run: Run) -> tuple[bytes, ...]:
    return tuple(item.boundaries_ns.tobytes() for item in run.loads)


@of_a_day("repeats")
def test_a_seed_repeats_as_a_rule(traced, tmp_path):
    courses = [course(traced)]
    while len(set(courses)) == len(courses) < MOST_COURSES:  # on a busy host, threads of QEMU may take other turns
        courses.append(course(run(tmp_path, *SHORT)))
    assert len(set(courses)) < len(courses), "no two runs are the same to the bit"


@pytest.mark.parametrize("older", ["stock:6.12", "stock:6.1"])
def test_writes_fill_the_queue_of_older_kernels_too(lab, older):
    if find(older) is None:
        pytest.skip(f"the kernel {older} is not here: wblab kernel build --stock {older.removeprefix('stock:')}")
    found = run(lab.results, *SILENT, "load.l1.size=24MiB", kernel=older)
    assert longest_s(found, "w-fast") > 0.3


@of_a_day("processors")
def test_it_runs_on_two_processors(lab):
    found = run(lab.results, *SILENT, kernel=f"{NAME}@2")
    assert (found.record["machine"]["processors"], found.record["kernel"]["processors"]) == (2, 2)
    assert longest_s(found, "w-slow") > 0.3
    assert lab.left_behind() == []


@pytest.mark.parametrize("driver", some(MODULES_OF, 1))
def test_a_disk_by_the_kernels_own_driver_has_the_queue_of_that(lab, driver):
    found = find(NAME)
    if found is None or driver not in found.drivers:
        pytest.skip(f"the kernel {NAME} is here without its drivers: wblab kernel build --stock 7.2 --refresh")
    own = run(lab.results, *SILENT, "clock.mode=real", "disk.slow.queue.nr_requests=4", kernel=f"{NAME}+{driver}")
    slow, fast = own.record["machine"]["queues"].values()
    assert slow["nr_requests"] == 4
    assert fast["nr_requests"] == {"usb-storage": 2, "uas": 28, "sd": 128, "sata": 64}.get(driver, 256)
    assert slow["device"] != fast["device"]
    assert own.record["machine"]["clock"] == "the host's"
    assert lab.left_behind() == []


@of_a_day("groups")
def test_a_control_group_of_the_spec_counts_what_its_loads_dirty(lab):
    group = "cgroup.g={loads=['l1'], files={'memory.max'='48M', 'io.weight'=100}}"
    found = run(lab.results, *SHORT, group)
    with tracecmd.open(found.path / TRACE) as trace:
        events = trace.events("balance_dirty_pages")
        of_l1 = events["pid"] == found.load("l1").pid
        groups = set(events["cgroup_ino"][of_l1].tolist())
        others = set(events["cgroup_ino"][~of_l1].tolist())
    assert groups
    assert not groups & others


@of_a_day("instructions")
def test_a_small_write_to_a_large_folio_of_ext4_takes_more_instructions(lab, capsys):
    counts = []
    for written in ("1MiB", "4KiB"):  # in folios of 1 MiB, and of a page
        made = run(lab.results, f"load.l1.block={written}", preset="overwrite")
        assert main(["why", "--layers", str(made.path), "--json"]) == 0
        counts.append(median(call["instructions"] for call in json.loads(capsys.readouterr().out)))
    assert counts[0] > 1.5 * counts[1] > 1000


@of_a_day("refusal")
def test_a_mount_option_that_the_kernel_refuses_fails_the_run(lab, capsys):
    options = [*FIRST, "disk.mount_options=['data=nonsense']", "disk.size=32MiB"]
    settings = [f"--set={setting}" for setting in options]
    assert main(["run", "base", "--kernel", NAME, "--exp", str(lab.results), *settings]) == 1
    (directory,) = lab.results.iterdir()
    said = "cannot mount disk, ext4, in the guest: Invalid argument"
    assert capsys.readouterr().err.endswith(f"wblab: {said} (see {directory})\n")
    record = json.loads((directory / EXPERIMENT).read_text())
    assert (record["outcome"], record["reason"], directory.name[0]) == ("failed", said, "_")
    assert said in (directory / "console.log").read_text()
    assert lab.left_behind() == []


@of_a_day("failure")
def test_a_load_that_fails_leaves_what_it_measured(lab):
    full = ("disk.size=16MiB", "disk.write_bps=20MiB/s", "load.w1.block=1MiB", "load.w1.idle=1ms", "load.l2.wait=60s")
    with pytest.raises(WblabError) as failure:
        run(lab.results, *FIRST, *full, preset="base")
    failed = re.match(r"the load (\w+) failed: No space left on device ", str(failure.value))
    assert failed
    (directory,) = lab.results.iterdir()
    assert json.loads((directory / f"load.{failed[1]}.json").read_text())["error"] == "No space left on device"
    assert lab.left_behind() == []


def arguments_with(monkeypatch: pytest.MonkeyPatch, *more: str, **changed: str) -> None:
    """Change what QEMU is told: further arguments, and values of options by their names."""
    plain = qemu_run.arguments

    def told(*given: object) -> list[str]:
        words = plain(*given)  # type: ignore[arg-type]
        for name, value in changed.items():
            words[words.index(f"-{name}") + 1] = value
        return [*words, *more]

    monkeypatch.setattr(qemu_run, "arguments", told)


def test_a_kernel_that_panics_ends_the_run_with_its_last_words(lab, monkeypatch):
    arguments_with(monkeypatch, append="console=ttyS0 panic=-1 rdinit=/nothing root=/dev/none")
    with pytest.raises(WblabError, match=r"the guest ended with exit code 0 before its first message: .*Kernel panic"):
        run(lab.results, *FIRST, preset="base")
    (directory,) = lab.results.iterdir()
    assert "Kernel panic" in (directory / "console.log").read_text()
    assert json.loads((directory / EXPERIMENT).read_text())["outcome"] == "failed"
    assert lab.left_behind() == []


@pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")
def test_qemu_reads_no_file_of_the_user(lab, tmp_path, monkeypatch):
    secret = tmp_path / "id_ed25519"
    secret.write_bytes(bytes(512))
    arguments_with(monkeypatch, "-drive", f"file={secret},format=raw,if=none,id=x,readonly=on")
    with pytest.raises(WblabError, match=r"the guest ended with exit code 1 before its first message: .*denied"):
        run(lab.results, *FIRST, preset="base")
    assert lab.left_behind() == []


def test_no_file_of_the_host_can_be_allowed(lab):
    request = ready(read_spec(SPECS.find("base"), [f"kernel={NAME!r}"]), built_kernel)
    with pytest.raises(InputError, match=r"^--allow-read: .*leave it out"):
        make_run(request, lab.results, readable=["/etc"])
    assert not lab.results.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_run_whose_command_is_ended(lab, number):
    stock = Lab(replace(lab.kernel, path=Path(NAME)), lab.results, lab.shm)
    process = stock.start("base", *(f"--set={setting}" for setting in FIRST))
    wait_until(lambda: EMULATOR[:15] in descendants(process.pid).values())
    there = descendants(process.pid)
    process.send_signal(number)
    _, said = process.communicate()
    wait_until(lambda: not [pid for pid in there if alive(pid)] and lab.left_behind() == [])
    assert "Traceback" not in said
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    (directory,) = lab.results.iterdir()
    assert ("interrupted" if number == signal.SIGINT else "killed") in (directory / EXPERIMENT).read_text()


@of_a_day("witness")
def test_a_witness_is_resumed_if_its_paths_are_given_again(lab, capsys):
    on = [f"--on={lab.kernel.path}", f"--on={NAME}"]
    place = ["--exp", str(lab.results), "--jobs", "1"]
    settings = [f"--set={setting}" for setting in FIRST]
    assert main(["study", "base", *on, "--seeds", "1", *settings, *place]) == 0
    capsys.readouterr()
    (study,) = lab.results.iterdir()
    before = made(study)
    assert len(before) == 2

    assert main(["study", "--resume", "latest", *place]) == 2
    assert f"give --on {lab.kernel.path} to run it" in capsys.readouterr().err
    shutil.rmtree(study / RUNS / next(iter(before)))
    assert main(["study", "--resume", "latest", "--json", on[0], *place]) == 0
    said = json.loads(capsys.readouterr().out)
    assert list(said["substrates"]) == [str(lab.kernel.path), NAME]
    assert all(figures for load in said["loads"].values() for figures in load["longest_pause_s"].values())
    after = made(study)
    assert after.keys() == before.keys()
    assert len(after.items() & before.items()) == 1
    assert lab.left_behind() == []


@pytest.mark.skipif(bool(missing()), reason=f"in-qemu.sh needs {missing()}")
def test_a_finding_is_shown_by_someone_who_has_only_the_directory_that_is_handed_on(tmp_path):
    scratch, kernel = tmp_path / "scratch", find(NAME)
    scratch.mkdir()
    assert main(["finding", "export", "flusher-at-the-limit", str(tmp_path / "mailed")]) == 0
    command = [tmp_path / "mailed" / "in-qemu.sh", kernel.path, kernel.modules, "1"]
    done = subprocess.run(
        command, env=os.environ | {"TMPDIR": str(scratch)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("flusher-at-the-limit: Linux 7.2.")
    assert done.stdout.endswith("result: shown\n")
    longest = re.search(r"the longest took (\d+\.\d\d) s\n", done.stdout)
    assert longest
    assert 0.5 < float(longest[1]) < 30
    assert list(scratch.iterdir()) == []


# Built by build-kernel.sh of one tree, with the proposal and without: docs/how-to/findings.md.
OWN = {"stock:7.2.11-small": "not ok", "stock:7.2.11-flush-at-limit": "ok"}


@pytest.mark.skipif(bool(missing()), reason=f"in-qemu.sh needs {missing()}")
@pytest.mark.parametrize(("name", "result"), [(NAME, "not ok"), *OWN.items()])
def test_the_findings_test_for_the_kernel_s_own_passes_with_the_proposal_alone(name, result, tmp_path):
    kernel = find(name)
    if kernel is None:
        pytest.skip(f"the kernel {name} is not here: wblab kernel build --stock BZIMAGE")
    it = hand_on("flusher-at-the-limit", tmp_path / "it")
    shutil.copy(FINDINGS / "flusher-at-the-limit/selftest.sh", it)
    command = [it / "in-qemu.sh", kernel.path, kernel.modules, "1"]
    environment = os.environ | {"SCRIPT": "selftest.sh"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert said[:2] == ["TAP version 13", "1..1"]
    assert re.fullmatch(r"# the longest .* took \d+ ms, expected: at most 500", said[2])
    assert (done.returncode, said[3:]) == (int(result != "ok"), [f"{result} 1 writer-on-fast-disk"])
