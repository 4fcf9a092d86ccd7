import os
import pty
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tracecmd
from support.livelab import PROGRAM, Live
from support.waiting import wait_until

from wblab.analysis.runs.captures import capture_of, captures
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import around, pause_report, whole
from wblab.analysis.runs.run import guest_spec
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.host.command import interpreter
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo
from wblab.plot.timeline import title

MS = 1_000_000


def test_a_run_records_loads_command_and_machine(live):
    done = live.run("--no-trace", "--", "sh", "-c", f"echo said; echo x > {live.disk}/own")
    assert (done.returncode, done.stdout.strip()) == (0, str(live.made().path))
    run = live.made()
    assert [item.name for item in run.loads] == ["c1", "w1", "mw1", "sh"]
    assert run.failure == ""
    assert (run.path / "command.log").read_text() == "said\n"
    assert os.listdir(live.disk) == ["own"]
    command, said = run.load("sh"), run.record["live"]["command"]
    assert (said["exit_code"], said["load"], command.end) == (0, "sh", "finished")
    assert [said["start_ns"], said["end_ns"]] == command.boundaries_ns[1:].tolist()
    assert run.offender_starts_ns()["sh"] <= said["start_ns"]
    assert said["pid"] not in (0, None, command.pid)
    assert run.record["live"]["thresholds"]["dirty"] > run.record["live"]["thresholds"]["background"] > 0
    assert run.spec.memory == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") or run.spec.memory > 1 << 26


def test_loads_that_wait_for_the_disk_can_be_used(live):
    done = live.run("--no-trace", "--limit", "1s", "--innocent", "c1,k1,s1,m1")
    assert done.returncode == 0, done.stderr
    run = live.made()
    assert [(item.name, item.load.kind) for item in run.loads[1:]] == [
        ("k1", "commit"),
        ("s1", "syncwrite"),
        ("m1", "mapped"),
    ]
    assert all(len(item.boundaries_ns) > 2 for item in run.loads)
    assert os.listdir(live.disk) == []


def test_the_lab_s_analyses_accept_a_live_run(live):
    live.run("--no-trace", "--", "true")
    run = live.made()
    report = pause_report(run)
    assert report.kind == "live"
    assert [item.kind for item in report.loads] == ["control", "write", "multiwrite", "command"]
    assert report.loads[-1].longest_pause_s == 0  # the time of a command is not a pause
    assert title(run).endswith(", live")
    for refused in (lambda: guest_spec(run), lambda: read_spec(SPECS.find(str(run.path)))):
        with pytest.raises(InputError, match="wblab study"):
            refused()


def test_a_failing_command_does_not_fail_the_run(live):
    done = live.run("--no-trace", "--", "sh", "-c", "exit 3")
    assert done.returncode == 0
    assert "the command ended with exit code 3" in done.stderr
    assert live.record()["live"]["command"]["exit_code"] == 3
    assert live.made().failure == ""


def test_without_a_command_it_runs_to_its_limit(live):
    done = live.run("--no-trace", "--limit", "500ms", "--innocent", "w1")
    assert done.returncode == 0
    assert [item.name for item in live.made().loads] == ["w1"]
    assert live.record()["live"]["ended"] == "the limit was reached"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_and_keeps_its_data(live, number):
    process = live.start("--no-trace", "--", "sh", "-c", f"sleep 1000; : {live.disk}")
    wait_until(lambda: (list(live.exp.glob("*/command.log")) and "sleep" in str(live.processes())) or child(live))
    os.kill(process.pid, number)
    out, said = process.communicate(timeout=600)
    assert (process.returncode, out.strip()) == (0, str(live.made().path))
    assert "the run ended early: interrupted" in said
    run = live.made()
    assert {item.end for item in run.loads} == {"stopped"}
    assert live.record()["live"]["command"]["exit_code"] is None
    assert os.listdir(live.disk) == []
    assert live.processes() == {}


def test_ctrl_c_in_a_terminal_ends_a_run(live):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, live.command("--no-trace", "--", "sleep", "1000"))
    wait_until(lambda: next(live.disk.glob("*/mw1.3"), None))
    os.write(terminal, b"\x03\x03")
    said = b""
    with suppress(OSError):  # the terminal's end
        while part := os.read(terminal, 4096):
            said += part
    assert os.waitpid(pid, 0)[1] == 0
    assert said.rstrip().endswith(bytes(live.made().path))
    assert os.listdir(live.disk) == []


def child(live):
    """Return the pid of the command's process, after it has started."""
    for pid, name in live.processes().items():
        if name == "sh":
            with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                if cmdline.read().startswith(b"sh\0"):
                    return pid
    return None


def test_processes_left_in_the_command_s_group_are_killed(live):
    live.run("--no-trace", "--", "sh", "-c", "sleep 1000 & echo $!")
    left = int((live.made().path / "command.log").read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{left}"))


def test_a_load_that_fails_fails_the_run_and_keeps_it(live):
    if os.geteuid():
        pytest.skip("only root may mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "nr_inodes=20", "wblab-test", str(live.disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr.decode()}")
    try:
        done = live.run("--no-trace", "--", "sleep", "1000")
    finally:
        subprocess.run(["umount", str(live.disk)], check=True)
    assert done.returncode == 1
    assert "the load mw1 failed: No space left on device" in done.stderr
    (path,) = live.exp.iterdir()
    assert path.name.startswith("_")
    assert live.made().failure == "the load mw1 failed: No space left on device"
    assert live.processes() == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--wrong"], "unrecognized arguments: --wrong"),
        (["true"], "unexpected argument 'true': write the command after --"),
        (["--", "no-such-program"], "cannot run 'no-such-program'"),
        (["--dir", "missing", "--", "true"], "--dir: cannot write to 'missing'"),
        (["--wait", "5", "--", "true"], "'5' is not understood"),
        (["--name", "a/b", "--", "true"], "--name: 'a/b' is not a valid name"),
        (["--innocent", "w2", "--", "true"], "--innocent: no load 'w2': choose from c1, w1, mw1"),
        (["--ioclass", "idle"], "--ioclass and --cgroup apply to a command"),
        (["--cgroup", "memory", "--", "true"], "--cgroup: 'memory' is not of the form NAME=VALUE"),
        (["--cgroup", "no.such=1", "--", "true"], "--cgroup: 'no.such' is not a file of a controller"),
        (["--scheduler", "no-such-disk=bfq", "--", "true"], "--scheduler no-such-disk=bfq: No such file"),
        (["--events", "a b", "--", "true"], "--events: 'a b' is not of the form system:event"),
        (["--no-trace", "--events", "jbd2", "--", "true"], "--no-trace excludes --events"),
        (["--capture-pauses", "0", "--", "true"], "--capture-pauses: give a time over 0"),
    ],
)
def test_bad_input_is_reported_on_one_line_before_any_change(live, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(live.disk)
    assert main(["live", "--exp", str(live.exp), *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"wblab: {message}")
    assert output.err.count("\n") == 1
    assert os.listdir(live.disk) == []
    assert not live.exp.exists()


def test_without_permission_to_trace_a_run_is_made_with_a_message(readable_lab):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:  # accessible to other users
        (live := Live(Path(place, "disk"), Path(place, "exp"))).disk.mkdir()
        user = {}
        if os.geteuid() == 0:
            user = {"user": 65534, "group": 65534, "extra_groups": []}
            for path in (Path(place), live.disk):
                path.chmod(0o777)
        program = [interpreter(), "-I", "-S", str(readable_lab / "live_experiment.py")]
        command = [*program, *live.command("--", "true")[len(PROGRAM) :]]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **user)
        assert done.returncode == 0, done.stderr
        assert "no trace: " in done.stderr
        assert live.made().spec.trace.events == ()
        assert os.listdir(live.disk) == []


def test_a_run_by_sudo_belongs_to_the_user(live, monkeypatch):
    if os.geteuid():
        pytest.skip("only root can give a file away")
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_GID", "65533")
    live.run("--no-trace", "--", "true")
    run = live.made().path
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (live.exp, run, *run.iterdir())}
    assert owners == {(65534, 65533)}


def test_a_trace_has_the_loads_clock_and_disturbs_no_other_tracer(live, tracing):
    with Undo() as undo:
        other = Instance("other", undo)
        other.enable("sched:sched_process_exit")
        other.start()
        (other.path / "trace_marker").write_text("theirs")
        before = [state(tracing), state(other.path)]
        done = live.run("--events", "sched:sched_process_exec", "--events", "writeback:*", "--", "true")
        assert all("wblab why" in line or "tar -czf" in line for line in done.stderr.splitlines()), done.stderr
        assert [state(tracing), state(other.path)] == before
        assert "theirs" in (other.path / "trace").read_text()
    run = live.made()
    cache = page_cache(run)
    assert run.record["live"]["lost_events"] == 0
    executed = cache.trace.events("sched_process_exec")
    (ours,) = np.flatnonzero(executed.pid == run.record["live"]["command"]["pid"])
    command = run.load("true")
    assert command.boundaries_ns[1] <= executed.ts_ns[ours] <= command.boundaries_ns[2]
    touched = cache.times_ns("writeback_dirty_inode")
    assert run.zero_ns < touched[-1]
    assert not list(run.path.glob(".*"))


def state(instance):
    """Return the settings of a trace instance."""
    files = ("tracing_on", "trace_clock", "buffer_size_kb", "set_event", "current_tracer", "events/enable")
    return {name: (instance / name).read_text() for name in files}


def test_a_moved_run_directory_is_reported_on_one_line(live):
    process = live.start("--no-trace", "--", "sleep", "1000")
    staged = wait_until(lambda: next(live.exp.glob("_*"), None))
    wait_until(lambda: next(live.disk.glob("*/mw1.0"), None))
    staged.rename(live.exp / "elsewhere")
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "cannot finish the run's directory" in said
    assert said.count("wblab: ") == 1
    assert "Traceback" not in said


def test_a_capture_has_the_seconds_around_a_pause(live, tracing):
    options = ("--capture-pauses", "400ms", "--capture-around", "300ms", "--capture-buffer", "128MiB")
    process = live.start(*options, "--", "sleep", "1000")  # a buffer that reaches back far enough on a busy machine
    stopped = wait_until(lambda: {name: pid for pid, name in live.processes().items()}.get("w1"))
    wait_until(lambda: list(live.disk.glob("*/w1")) and next(live.disk.glob("*/w1")).stat().st_size > 8)
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: next(live.disk.glob("*/mw1.15"), None))
    os.kill(stopped, signal.SIGCONT)
    wait_until(lambda: list(live.exp.glob("*/trace.pause-1.json")))
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=600)
    run = live.made()
    assert run.record["live"]["captures"] == len(captures(run)) >= 1
    capture = captures(run)[0]
    pauses = run.load("w1").pauses_ns
    assert capture.load == "w1"
    assert capture.pause.duration_ns == pauses.max() > 400 * MS
    assert capture.window.start_ns <= capture.pause.start_ns < capture.pause.end_ns < capture.window.end_ns
    assert capture_of(run, around(run, "w1")) == capture
    cache = page_cache(run, capture.path)
    switches = cache.trace.events("sched_switch")
    own_ns = switches.ts_ns[switches.pid == stopped]
    longest = int(np.diff(own_ns).argmax())
    between = (switches.ts_ns > own_ns[longest]) & (switches.ts_ns < own_ns[longest + 1])
    assert own_ns[longest + 1] - own_ns[longest] > 400 * MS  # it did not run, and others did
    assert between.sum() > 10
    assert {item.split(":")[0] for item in cache.trace.formats} >= {"writeback", "block", "sched"}


def test_captures_are_limited(live, tracing):
    process = live.start("--capture-pauses", "1us", "--capture-around", "0", "--captures", "0", "--", "sleep", "1000")
    wait_until(lambda: next(live.disk.glob("*/mw1.10"), None))
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert "pauses after the first 0 captures are not saved: --captures is 0" in said
    run = live.made()
    assert captures(run) == []
    assert capture_of(run, whole(run)) is None
    assert (run.path / "trace.dat").is_file(), said
    assert (
        "writeback:global_dirty_state" in tracecmd.open(run.path / "trace.dat").formats
    )  # whether the host had any or not
