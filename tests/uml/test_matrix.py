"""Matrices of real runs, short ones: on this machine, on a cluster that loses a worker, interrupted and resumed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.lottery import on_its_day
from support.processes import alive
from support.progress import without_progress
from support.waiting import wait_until

from wblab.host.process.usage import descendants
from wblab.lab.places import ROOT
from wblab.study.made import made_of
from wblab.study.store import Store

SHORT = {
    "trace.events": [],
    "load.l1.size": "8MiB",
    "load.l1.wait": "1s",
    "load.l2.size": "1MiB",
    "load.l2.wait": "2s",
}
LIMIT_S = 250.0  # for runs that take seconds on an idle machine
REPEATS = ("decided", "noisy")  # for which a matrix makes more runs than it has: one is tried a day
SCHEDULERS = {"disk.scheduler": ["none", "bfq"]}


@pytest.fixture
def write_matrix(lab, tmp_path):
    """Write a matrix of short runs and return its file."""

    def write(axes: dict, seeds: int = 2) -> Path:
        table = {"base": "base-device", "seeds": seeds}
        lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
        for name, content in (("set", SHORT | {"kernel": str(lab.kernel.path)}), ("axes", axes)):
            lines += [f"[{name}]", *(f"{json.dumps(key)} = {inline(value)}" for key, value in content.items())]
        path = tmp_path / "short.toml"
        path.write_text("\n".join(lines))
        return path

    return write


def inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


@pytest.fixture
def start(lab):
    """Start wblab study. kernel: for all its runs, so that it is used from where it is."""

    def run(*arguments: object, kernel: object = lab.kernel.path) -> "subprocess.Popen[str]":
        place = ("--exp", str(lab.results), "--kernel", str(kernel))
        # The tests may run in the background of a shell, which has SIGINT ignored there.
        command = ["env", "--default-signal=INT", sys.executable, "-m", "wblab", "study", *place, *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return run


def finished(process: "subprocess.Popen[str]") -> tuple[int, Path, str]:
    """Return the exit code, the matrix directory and the text on standard error."""
    output, errors = process.communicate(timeout=LIMIT_S)
    return process.returncode, Path(output.strip()), without_progress(errors)


def rows(directory: Path) -> set[str]:
    """Return the names of the runs that have a row."""
    return {made.name for made in made_of(Store.open(directory)) if made.known}


def runs(lab) -> set[str]:
    """Return the names of the finished runs of the only matrix."""
    return {path.name for path in lab.results.glob("[!_]*/runs/*") if path.name[0] not in "._"}


ALL = {"0-none-s1", "0-none-s2", "1-bfq-s1", "1-bfq-s2"}


def test_local_matrix_runs_equal_single_runs(lab, write_matrix, start):
    code, directory, errors = finished(start(write_matrix(SCHEDULERS)))
    assert (code, errors) == (0, "")
    assert runs(lab) == ALL
    assert {path.name for path in directory.iterdir()} == {"rows", "runs", "study.json"}
    assert rows(directory) == ALL
    single = lab.run(str(directory / "runs" / "1-bfq-s2" / "experiment.json"))
    for file in single.path.glob("load.*.npy"):
        assert file.read_bytes() == (directory / "runs" / "1-bfq-s2" / file.name).read_bytes()
    assert lab.left_behind() == []


@on_its_day("decided", REPEATS)
def test_a_cell_runs_until_it_is_decided(lab, write_matrix, start):
    """The first cell again has the same runs, which decides it as soon as seeds are paired."""
    axes = {"rate": {"slow": {}, "slow again": {}, "fast": {"disk.write_bps": "10MiB"}}}
    code, directory, errors = finished(start(write_matrix(axes), "--until-decided", "--seeds", "8"))
    assert code == 0
    assert [line.partition(": ")[2] for line in errors.splitlines()] == [
        "3 seeds: 2 of 2 cells are not decided",
        "5 seeds: 1 of 2 cells are not decided",
        "8 seeds: 1 of 2 cells are not decided",
    ]
    made = [sum(name.startswith(cell) for name in runs(lab)) for cell in ("0-", "1-", "2-")]
    assert made == [8, 5, 8]
    assert json.loads((directory / "study.json").read_text())["about"] == {"looks": 3}
    again, same, _ = finished(start("--resume", directory))
    assert (again, same) == (0, directory)
    assert sum(made) == len(runs(lab))


def listening(pids: list[int]) -> list[str]:
    """Return the sockets of these processes to which others could connect (proc_net(5))."""
    inodes = set()
    for pid in pids:
        with suppress(OSError):  # it has ended
            for number in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):  # closed meanwhile
                    inodes.add(os.readlink(f"/proc/{pid}/fd/{number}").removeprefix("socket:[").rstrip("]"))
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6", "unix"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            accepts = words[3] == "00010000" if table == "unix" else words[3] in ("0A", "07")  # LISTEN; udp: bound
            if accepts and words[6 if table == "unix" else 9] in inodes:
                found.append(f"{table} {line.strip()}")
    return found


def test_a_local_matrix_opens_no_listening_socket(lab, write_matrix, start):
    process = start(write_matrix(SCHEDULERS, seeds=4), "--jobs", "2")
    seen = 0
    while process.poll() is None:
        if list(lab.results.glob("*/.work-*/**/console.log")):
            assert listening(descendants(process.pid)) == []
            seen += 1
        time.sleep(0.05)
    code, _, errors = finished(process)
    assert (code, errors) == (0, "")
    assert seen


def test_listening_sockets_are_found():
    with socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX) as server:
        server.bind("\0wblab-test")
        assert len(listening([os.getpid()])) == 1
        server.listen()
        assert [line.split()[0] for line in listening([os.getpid()])] == ["tcp", "unix"]


def test_a_matrix_that_is_interrupted_and_then_killed_resumes(lab, write_matrix, start):
    process = start(write_matrix(SCHEDULERS), "--jobs", "1")
    wait_until(lambda: runs(lab))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers get it too
    code, _, errors = finished(process)
    assert code == 130
    assert errors.splitlines()[-1] == "wblab: interrupted"
    assert "Traceback" not in errors
    wait_until(lambda: lab.left_behind() == [])
    (directory,) = lab.results.iterdir()
    interrupted = places(directory)
    assert rows(directory) == set(interrupted)

    process = start("--resume", directory, "--jobs", "2")
    wait_until(lambda: list(lab.results.glob("*/.work-*/**/console.log")) or runs(lab) == ALL)
    everything = descendants(process.pid)
    process.kill()
    process.communicate()
    wait_until(lambda: not any(map(alive, everything)))
    wait_until(lambda: lab.left_behind() == [])
    killed = places(directory)
    assert interrupted.items() <= killed.items()

    code, again, errors = finished(start("--resume", directory))
    assert (code, again, errors) == (0, directory, "")
    assert killed.items() <= places(directory).items()
    assert runs(lab) == rows(directory) == ALL
    assert {path.name for path in directory.iterdir()} == {"rows", "runs", "study.json"}
    assert lab.left_behind() == []


def places(directory: Path) -> dict[str, int]:
    """Return where the finished runs of a matrix lie on the disk, by name: a run that is made again lies elsewhere."""
    return {path.name: path.stat().st_ino for path in (directory / "runs").iterdir() if path.name in ALL}


def test_a_cell_that_fails_is_reported(lab, write_matrix, start):
    axes = {"key": {"there": {"sysctl.vm.swappiness": 60}, "missing": {"sysctl.vm.no_such_key": 1}}}
    code, directory, errors = finished(start(write_matrix(axes, seeds=1)))
    assert code == 1
    first, last = errors.splitlines()
    assert first.startswith("failed: key missing, seed 1: ")
    assert "vm.no_such_key" in first
    assert "1 of 2 runs failed" in last
    assert {path.name for path in (directory / "runs").iterdir()} == {"0-there-s1", "_1-missing-s1"}
    record = json.loads((directory / "runs" / "_1-missing-s1" / "experiment.json").read_text())
    assert record["outcome"] == "failed"


@pytest.fixture
def dask(tmp_path):
    """Return a function that starts a part of a cluster; all parts are ended with the test."""
    started = []

    def start(*arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
        log = (tmp_path / f"dask-{len(started)}.log").open("wb")
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | environment, stdout=log, stderr=log)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def cluster(dask, tmp_path):
    """A scheduler on the loopback address, and a function that starts one of its workers."""
    contact = tmp_path / "scheduler.json"
    dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(contact))
    wait_until(lambda: contact.exists() and contact.read_text().endswith("}"))
    address = json.loads(contact.read_text())["address"]

    def worker(name: str, **environment: str) -> "subprocess.Popen[bytes]":
        place = ("--local-directory", str(tmp_path / name))
        return dask("worker", address, "--no-nanny", "--nthreads", "1", *place, **environment)

    return address, worker


def test_a_cluster_survives_the_loss_of_a_worker(lab, write_matrix, start, cluster, tmp_path):
    address, worker = cluster
    lost, kept = worker("lost"), worker("kept")
    wait_until(lambda: (tmp_path / "lost").exists() and (tmp_path / "kept").exists())
    process = start(write_matrix(SCHEDULERS), "--cluster", address)
    wait_until(lambda: len(runs(lab)) >= 1 and list((tmp_path / "lost").glob("**/_*/console.log")))
    lost.kill()
    code, directory, errors = finished(process)
    assert code == 0, errors
    assert runs(lab) == ALL
    assert rows(directory) == ALL
    assert kept.poll() is None
    assert not list((tmp_path / "kept").glob("**/_*/console.log"))
    wait_until(lambda: lab.left_behind() == [])


def test_workers_without_the_kernel_are_refused_before_any_run(lab, write_matrix, start, cluster, tmp_path):
    address, worker = cluster
    matrix = write_matrix(SCHEDULERS)
    matrix.write_text(matrix.read_text().replace(json.dumps(str(lab.kernel.path)), json.dumps(lab.kernel.series)))
    worker("other", XDG_CACHE_HOME=str(tmp_path / "empty"))
    code, _, errors = finished(start(matrix, "--cluster", address, kernel=lab.kernel.series))
    assert code == 2
    assert errors.startswith("wblab: the worker tcp://127.0.0.1:")
    assert f"kernel {lab.kernel.series} is not built yet" in errors
    assert not lab.results.exists()


def test_a_missing_cluster_scheduler_is_an_error(lab, write_matrix, start):
    code, _, errors = finished(start(write_matrix(SCHEDULERS), "--cluster", "nonsense://x"))
    assert code == 2
    assert "no scheduler at 'nonsense://x'" in errors
    assert errors.count("\n") == 1
    assert not lab.results.exists()


@on_its_day("noisy", REPEATS)
def test_a_noisy_run_with_the_real_clock_is_repeated_and_not_counted(lab, write_matrix, start):
    matrix = write_matrix({"clock.mode": ["real"]}, seeds=1)
    short = matrix.read_text().replace('MiB"', 'KiB"').replace('"1s"', '"0s"').replace('"2s"', '"1s"')
    matrix.write_text(f'control_bound = "10us"\nrepeats = 1\n{short}')  # no host is as quiet as that
    code, directory, errors = finished(start(matrix))
    assert code == 1
    assert "failed: clock.mode real, seed 1: noisy 2 times: its control load stalled" in errors
    assert runs(lab) == {"0-real-s1.noisy", "0-real-s1.noisy-2"}
    assert rows(directory) == set()


def test_ctrl_c_ends_the_guests_of_a_cluster_too(lab, write_matrix, start, cluster, tmp_path):
    address, worker = cluster
    worker("busy")
    matrix = write_matrix({"clock.mode": ["real"]}, seeds=1)
    matrix.write_text(matrix.read_text().replace('"2s"', '"300s"'))
    process = start(matrix, "--cluster", address)
    wait_until(lambda: list((tmp_path / "busy").glob("**/_*/console.log")))
    os.killpg(process.pid, signal.SIGINT)
    code, _, errors = finished(process)
    assert code == 130
    assert "Traceback" not in errors
    wait_until(lambda: lab.left_behind() == [])
