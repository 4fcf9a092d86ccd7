"""Every failure has its reason on one line and in experiment.json, and leaves nothing behind."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.waiting import LIMIT_S, patience_s

from wblab.cli import main
from wblab.core.errors import WblabError
from wblab.host.guestmemory import boot_bytes
from wblab.lab.formats import CONSOLE, EXPERIMENT
from wblab.lab.places import PRESETS, ROOT
from wblab.lab.specfile import read_spec

HANG = "while True: pass"
HANG_AT_POWER_OFF = """
from wblab.guest import first, init
def spin():
    while True: pass
init.power_off = spin
first.mount_scratch()
init.main()
"""
PANIC = "import os; os._exit(3)"  # the kernel panics when PID 1 ends


def staged(lab) -> tuple[Path, dict]:
    """Return the only run directory, which must have kept its staged name, and its record."""
    (directory,) = lab.results.iterdir()
    assert directory.name.startswith("_")
    assert (directory / CONSOLE).stat().st_size
    return directory, json.loads((directory / EXPERIMENT).read_text())


def fails(lab, *settings: str, silence_s: float = 60.0) -> str:
    """Run the base experiment, which must fail, and return the reason, after the checks common to all failures."""
    with pytest.raises(WblabError) as failure:
        lab.run("base", *settings, silence_s=silence_s)
    _, record = staged(lab)
    assert record["outcome"] == "failed"
    assert "\n" not in record["reason"]
    assert record["reason"] in str(failure.value)
    assert lab.left_behind() == []
    return record["reason"]


def test_a_guest_panic_is_reported(lab, guest_program):
    guest_program(PANIC)
    assert "Kernel panic" in fails(lab)


def test_a_hanging_guest_is_reported(lab, guest_program):
    guest_program(HANG)
    assert "hangs" in fails(lab, silence_s=2)


def test_a_guest_hanging_at_power_off_is_reported(lab, guest_program):
    guest_program(HANG_AT_POWER_OFF)
    assert "powering off" in fails(lab, silence_s=patience_s())


def test_an_exception_in_the_guest_is_the_reason(lab, guest_program):
    guest_program(
        "from wblab.guest import first, init\n"
        "init.set_sysctls = lambda sysctls: 1 / 0\n"
        "first.mount_scratch()\n"
        "init.main()\n"
    )
    assert "ZeroDivisionError" in fails(lab)


def test_trace_events_missing_in_the_kernel_are_refused(lab):
    assert "trace-cmd" in fails(lab, 'trace.events=["ext4:no*such"]')  # that a pattern matches nothing, the guest finds


def test_a_trace_with_lost_events_fails_the_run(lab):
    reason = fails(
        lab, "trace.buffer=8K", "trace.blame=never", 'trace.events=["sched", "syscalls", "writeback", "timer"]'
    )
    assert "lost" in reason
    assert any(word.isdigit() for word in reason.split())


def test_a_failing_load_fails_the_run(lab):
    assert fails(lab, "load.l1.size=125MiB", "load.l2.size=1MiB") == "the load l1 failed: No space left on device"


def test_a_sysctl_missing_in_the_kernel_fails_the_run(lab):
    assert "vm.no_such_key" in fails(lab, "sysctl.vm.no_such_key=1")


def test_a_load_past_the_time_limit_fails_the_run(lab):
    assert "time limit" in fails(lab, "time_limit=50s")


def test_a_stalled_load_is_awaited_at_the_end(lab):
    """The load flushes another load's data for two minutes; the run ends when it ends."""
    loads = (
        "l1={kind='load', file='l1', wait='1s', size='8MiB', block='64KiB'}",
        "l2={kind='command', wait='0s', argv=['sleep', '3']}",
        "r1={kind='syncfs', idle='500ms'}",
    )
    run = lab.run("base-device", "trace.events=[]", "disk.write_bps=64KiB", f"load={{{', '.join(loads)}}}")
    assert run.load("r1").pauses_ns.max() > 100 * 10**9


def test_paths_may_have_spaces(lab, tmp_path):
    results = tmp_path / "my results, ünï"
    done = subprocess.run(
        [*lab.command(), "--exp", str(results)], cwd="/", env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == results
    assert lab.left_behind() == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--set", "disk.write_bpz=1"], "disk.write_bpz"),
        (["--set", "memory=1G", "--set", "disk.size=999G"], "disk.size"),
        (["--set", "load.l1.size=1T"], "load.l1"),
        (["--set", "load.l1.size=1G"], "disk.size"),
        (["--kernel", "/nonexistent/linux"], "/nonexistent/linux"),
        (["--kernel", "/etc/passwd"], "/etc/passwd"),
        (["--kernel", f"/{'x' * 300}/linux"], "File name too long"),
        (["--kernel", "99.9"], "99.9"),
        (["--name", "a/b"], "a/b"),
        (["nosuchspec"], "nosuchspec"),
        (["--clock", "wrong"], "wrong"),
    ],
)
def test_bad_input_boots_nothing(lab, arguments, word, capsys):
    assert main([*lab.command()[3:], *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert word in said
    assert not lab.results.exists()
    assert lab.left_behind() == []


def test_a_missing_trace_cmd_is_reported(lab):
    environment = os.environ | {"PATH": "/nonexistent"}
    done = subprocess.run(lab.command(), cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "missing on this machine: trace-cmd: run '" in done.stderr
    assert not lab.results.exists()


def run_on_small_tmpfs(lab, small: Path, size: str, meanwhile: str = "true") -> "subprocess.CompletedProcess[str]":
    """Run the base experiment with its own tmpfs as shared memory, in a namespace that permits mounting one."""
    namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*namespace, "true"], check=False).returncode:
        pytest.skip("this machine has no user namespaces")
    small.mkdir()
    script = f"mount -t tmpfs -o size={size} tmpfs '{small}' || exit; ({meanwhile}) & exec \"$@\""
    return subprocess.run(
        [*namespace, "sh", "-c", script, "sh", *lab.command("--patience", "60s")],
        cwd=ROOT,
        env=os.environ | {"WBLAB_SHM": str(small)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_full_shared_memory_is_reported(lab, tmp_path):
    done = run_on_small_tmpfs(lab, tmp_path / "small", "16M")
    assert done.returncode == 2, done.stderr
    assert f"{tmp_path / 'small'} has 16 MiB free" in done.stderr
    assert not lab.results.exists()


def test_shared_memory_filling_up_during_a_run_is_reported(lab, tmp_path):
    small = tmp_path / "small"
    room = boot_bytes(read_spec(PRESETS / "base.toml")) + (80 << 20)  # enough to begin with
    started = f"timeout 60 sh -c 'until ls {lab.results}/_*/{CONSOLE}; do sleep 0.05; done' >/dev/null 2>&1"
    done = run_on_small_tmpfs(lab, small, str(room), f"{started}; sleep 0.3; cat /dev/zero > '{small}/filler'")
    assert done.returncode == 1, done.stdout + done.stderr
    _, record = staged(lab)
    assert record["outcome"] == "failed"
    assert record["reason"] in done.stderr
    assert "shared memory is full" in done.stderr or "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_simultaneous_runs_do_not_interfere(lab):
    processes = [lab.start("--name", f"run{number}") for number in range(3)]
    outputs = [process.communicate(timeout=LIMIT_S) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    digests = set()
    for output, _ in outputs:
        files = sorted(Path(output.strip()).glob("load.*.npy"))
        digests.add(b"".join(file.read_bytes() for file in files))
    assert len(digests) == 1
    assert lab.left_behind() == []


def test_results_are_never_overwritten(lab):
    first, second = (lab.run("base", "time_limit=400s") for _ in range(2))
    assert first.path != second.path
    shutil.rmtree(lab.results)
