import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from support.descriptors import nothing_stays_open
from support.processes import descendants
from support.waiting import LIMIT_S, patience_s, wait_until

from wblab.core import entry, layout
from wblab.core.errors import WblabError
from wblab.host.process import boot as module
from wblab.host.process import reaping
from wblab.host.process.boot import boot
from wblab.host.process.reaper import ConfinedCommand
from wblab.lab.places import ROOT

GOOD_END = 'say("power off", 2_500_000_000)'
# Recorded children and grandchildren in separate sessions, which ignore SIGTERM and keep the status channel open.
FAMILY = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
note("guest")
for child in range(3):
    if not os.fork():
        os.setsid()
        note("child")
        if not os.fork():
            os.setsid()
            note("grandchild")
        while True:
            time.sleep(60)
while len(open(f"{NOTES}/pids").readlines()) < 7:
    time.sleep(0.01)
"""


@pytest.fixture(params=["forked", "of its own"])
def reaper(request, monkeypatch):
    """The two ways to start the reaper: as a fork of this process, or as a program, because tests have threads."""
    monkeypatch.setattr(reaping, "has_one_thread", lambda: request.param == "forked")
    return request.param


def nothing_left(guest, alive):
    return not guest.request.scratch.exists() and not any(alive(pid) for pid in guest.pids())


def test_a_guest_that_finishes_is_reported(guest, reaper):
    one = guest(f"print(sys.argv[1:]); say('mounts', 5); say('loads', 9, start_ns=7)\n{GOOD_END}")
    ended = one.boot()
    assert [message.phase for message in one.heard] == ["mounts", "loads", "power off"]
    assert one.heard[-1] == ended.last
    assert one.heard[1].detail == {"start_ns": 7}
    assert ended.guest_s == 2.5
    assert ended.wall_s > 0
    first, second = one.console.splitlines()
    assert first == f"+ '{one.request.linux}' mem=1 'a b'"
    assert second == "['mem=1', 'a b']"
    assert not one.request.scratch.exists()


def test_messages_may_come_in_pieces(guest):
    one = guest(
        """line = json.dumps({"phase": "power off", "guest_ns": 1}).encode() + b"\\n"
for byte in line + line:
    os.write(13, bytes([byte]))
    time.sleep(0.001)"""
    )
    one.boot()
    assert len(one.heard) == 2


def test_files_left_by_the_guest_are_kept(guest):
    one = guest(f'open(f"{{SCRATCH}}/trace.dat", "w").write("events"); {GOOD_END}')
    one.boot()
    assert (one.request.run / "trace.dat").read_text() == "events"
    assert sorted(path.name for path in one.request.run.iterdir()) == ["console.log", "trace.dat"]


def test_a_guest_inherits_only_its_descriptors(guest, reaper):
    one = guest(f"""
def is_open(number):
    try:
        return os.fstat(number)
    except OSError:
        return None
print([number for number in range(200) if is_open(number)])
{GOOD_END}""")
    with open("/dev/null") as other:
        os.set_inheritable(other.fileno(), True)
        one.boot()
    assert one.console.splitlines()[-1] == str([0, 1, 2, entry.SCRATCH_FD, layout.DISK_FD, layout.STATUS_FD])


def test_nothing_of_the_hosts_environment_reaches_the_guest(guest, reaper, monkeypatch):
    monkeypatch.setenv("WBLAB_TEST_SECRET", "1")
    one = guest(f"print(sorted(os.environ)); {GOOD_END}")
    one.boot()
    assert "WBLAB_TEST_SECRET" not in one.console


def open_files(pid):
    """Yield what a process has open; it may close some of them while they are listed."""
    for file in sorted(Path(f"/proc/{pid}/fd").iterdir()):
        with suppress(FileNotFoundError):
            yield os.readlink(file)


def test_a_reaper_has_its_own_session_and_a_minimal_environment(guest, reaper):
    one = guest("say('disk', os.getppid())\nsys.stdin.read()\n" + GOOD_END)
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)
    before = signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    said = {}

    def look(message):
        pid = message.guest_ns
        if message.phase == "disk":
            fields = [line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
            said.update({field[0]: field[1] for field in fields})
            said["copied"] = Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()
            said["session"] = os.getsid(pid) == pid
            said["open"] = list(open_files(pid))

    with open("/dev/null") as other:
        os.set_inheritable(other.fileno(), True)
        boot(one.request, look)
    signal.signal(signal.SIGUSR1, handler)
    assert said["copied"] == (reaper == "forked")
    assert said["session"]
    assert said["Name"] == "wblab-reaper"
    ignored = sum(1 << number - 1 for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
    assert int(said["SigIgn"], 16) & ignored == ignored
    assert int(said["SigCgt"], 16) & 1 << signal.SIGUSR1 - 1 == 0
    assert int(said["SigBlk"], 16) == 0  # another test may have left a signal blocked here
    assert said["open"].count("/dev/null") == 1
    assert len(said["open"]) <= 8
    assert before == (signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_an_error_of_the_reaper_is_in_the_console(guest, reaper, monkeypatch):
    one = guest(GOOD_END)
    monkeypatch.setattr(module, "ConfinedCommand", lambda **order: ConfinedCommand(**order | {"mkfs": [{"no": 1}]}))
    assert one.reason().startswith("the guest ended with no exit status: its reaper died before its first message")
    assert "Traceback" in one.console
    assert not one.request.scratch.exists()


def test_booting_leaks_no_descriptor(guest, reaper):
    one = guest(GOOD_END)
    with nothing_stays_open():
        one.boot()


def test_killing_the_reaper_ends_the_guest_and_its_scratch_is_removed(guest):
    one = guest("say('mounts', 1)\nwhile True: time.sleep(60)")

    def kill_reaper(_):
        for child in psutil.Process().children():
            child.kill()

    with pytest.raises(WblabError, match="the guest ended with no exit status: its reaper died after "):
        boot(one.request, kill_reaper)
    assert not one.request.scratch.exists()


def test_a_guest_without_messages_counts_as_hanging(guest, alive):
    one = guest("note('guest')\nwhile True: time.sleep(60)", silence_s=0.5)
    assert one.reason() == "the guest hangs: no message for 0.5 s before its first message"
    assert nothing_left(one, alive)


def test_a_monitor_does_not_excuse_a_silent_guest(guest, reaper, monkeypatch):
    """On a busy machine a hanging guest was not ended: the reaper's own waits for a processor counted as well."""
    asked = []
    monkeypatch.setattr(module, "waited_ns", lambda pids: asked.extend(pids) or 0)
    silence_s = patience_s()
    one = guest("note('guest'); say('disk')\nwhile True: time.sleep(60)", silence_s=silence_s)
    assert one.reason().startswith(f"the guest hangs: no message for {silence_s:g} s")
    assert set(asked) == set(one.pids())


def test_a_guest_that_falls_silent_is_reported_with_its_last_phase(guest, alive):
    silence_s = patience_s()
    one = guest("note('guest'); say('disk', 1_500_000_000)\nwhile True: pass", silence_s=silence_s)
    assert one.reason() == (
        f"the guest hangs: no message for {silence_s:g} s after setting up and mounting the disk (guest time 1.5 s)"
    )
    assert nothing_left(one, alive)


@pytest.mark.parametrize(
    ("end", "hangs", "reason"),
    [
        ("while True: time.sleep(60)", True, "the guest hangs"),
        ("say('failed', reason='a reason'); sys.exit(0)", False, "a reason"),
        (f"{GOOD_END}; sys.exit(0)", False, None),
        ("say('disk'); os.kill(os.getpid(), signal.SIGSEGV)", False, "the guest ended with signal SIGSEGV after"),
    ],
)
def test_no_descendant_outlives_the_guest(guest, alive, end, hangs, reason):
    one = guest(f"{FAMILY}\n{end}", silence_s=patience_s() if hangs else LIMIT_S)
    if reason:
        assert one.reason().startswith(reason)
    else:
        one.boot()
    assert len(one.pids()) == 7
    assert nothing_left(one, alive)


def test_the_guest_s_own_reason_is_reported(guest):
    assert guest(f"say('failed', reason='cannot mount'); {GOOD_END}").reason() == "cannot mount"


def test_a_program_that_the_kernel_killed_is_in_the_reason(guest):
    kill = "[   18.3] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/,task=l1,pid=31,uid=0"
    one = guest(f"print({kill!r}, flush=True); say('failed', reason='l1 died: see the console'); {GOOD_END}")
    assert one.reason() == (
        "l1 died. The kernel killed l1 at guest time 18.3 s, as the machine's memory was full (OOM killer)"
    )


def test_the_reason_of_a_failure_is_kept_when_the_guest_hangs_after_it(guest):
    one = guest(f"say('failed', reason='cannot mount'); {GOOD_END}\nwhile True: pass", ending_s=0.5)
    assert one.reason() == "cannot mount"


def test_a_panic_is_the_reason(guest):
    one = guest("say('mounts', 5); print('Kernel panic - not syncing: No init', 'more', sep='\\n'); sys.exit(134)")
    assert one.reason() == (
        "the guest ended with exit code 134 after mounting the guest's filesystems (guest time 0.0 s): "
        "Kernel panic - not syncing: No init"
    )


def test_success_is_not_inferred_from_a_clean_exit(guest):
    assert guest("say('write'); sys.exit(0)").reason().startswith("the guest ended with exit code 0 after writing")


def test_success_is_not_inferred_from_the_message_of_a_dying_guest(guest):
    assert "the guest ended with exit code 3 after powering off" in guest(f"{GOOD_END}; sys.exit(3)").reason()


@pytest.mark.parametrize("silent", [True, False])
def test_a_guest_that_lingers_after_power_off_is_ended(guest, alive, silent):
    closing = "" if silent else "os.close(13)"
    one = guest(f"note('guest'); {GOOD_END}; {closing}\nwhile True: pass", ending_s=0.5)
    assert one.reason().startswith("the guest hangs" if silent else "the guest ended with signal SIGKILL after power")
    assert nothing_left(one, alive)


@pytest.mark.parametrize(
    "words",
    [
        "Kernel panic",
        "[]",
        '{\\"phase\\": 1, \\"guest_ns\\": 1}',
        '{\\"phase\\": \\"nap\\", \\"guest_ns\\": 1}',
        '{\\"phase\\": \\"disk\\", \\"guest_ns\\": -1}',
        '{\\"phase\\": \\"loads\\", \\"guest_ns\\": 1, \\"detail\\": {\\"start_ns\\": \\"x\\"}}',
        '{\\"phase\\": \\"loads\\", \\"guest_ns\\": 1, \\"detail\\": {\\"start_ns\\": NaN}}',
    ],
)
def test_invalid_messages_are_a_failure(guest, alive, words):
    one = guest(f'note("guest"); os.write(13, b"{words}\\n")\nwhile True: pass')
    assert "an invalid message" in one.reason()
    assert nothing_left(one, alive)


@pytest.mark.parametrize(
    ("linux", "mode", "why"),
    [("missing", None, "No such file"), ("/", None, "Permission denied"), ("text", 0o644, "Permission denied")],
)
def test_a_kernel_that_cannot_be_executed_is_reported(guest, tmp_path, linux, mode, why):
    one = guest("")
    if mode:
        (tmp_path / linux).write_text("text")
        (tmp_path / linux).chmod(mode)
    one.request = replace(one.request, linux=tmp_path / linux)
    assert one.reason().startswith(
        f"the guest ended with exit code 127 before its first message: cannot execute {tmp_path / linux}: "
    )
    assert why in one.console
    assert not one.request.scratch.exists()


def test_an_interrupt_ends_the_guest(guest, reaper, alive):
    def interrupt(message):
        raise KeyboardInterrupt

    one = guest(f"{FAMILY}\nsay('disk')\nwhile True: pass")
    with pytest.raises(KeyboardInterrupt):
        boot(one.request, interrupt)
    assert nothing_left(one, alive)


def test_unsaved_results_are_a_failure_and_not_a_hang(guest, alive):
    one = guest(f"note('guest'); open(f'{{SCRATCH}}/trace.dat', 'w').close(); {GOOD_END}")
    (one.request.run / "trace.dat").mkdir()
    with pytest.raises(OSError, match=r"trace\.dat"):
        one.boot()
    assert nothing_left(one, alive)


def test_a_reaper_that_is_killed_is_a_failure(guest, alive):
    one = guest("note('guest'); say('disk', os.getppid())\nwhile True: pass")
    with pytest.raises(WblabError, match=r"^the guest ended with no exit status: its reaper died after setting up"):
        boot(one.request, lambda message: os.kill(message.guest_ns, signal.SIGKILL))
    wait_until(lambda: not any(alive(pid) for pid in one.pids()))


# The tests may run in the background of a shell, which ignores SIGINT there.
HOLDER = """
import signal, sys, threading
from pathlib import Path
if sys.argv[6] == "of its own":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from wblab.host.process.boot import Boot, boot
from wblab.host.sandbox import Sandbox
run, scratch = Path(sys.argv[3]), Path(sys.argv[4])
sandbox = Sandbox(runs=["/"], reads=["/"], keeps=[sys.argv[5]], calls="")
boot(Boot(Path(sys.argv[2]), [], run, scratch, [0], sandbox=sandbox), lambda message: print(message.phase, flush=True))
"""


KILLED = {"outcome": "failed", "reason": "the wblab command was killed while the guest ran", "seed": 7}
TOLD = {"outcome": "failed", "reason": "interrupted", "seed": 7}  # by a command that did not wait for the reaper


@pytest.mark.parametrize(
    ("record", "expected"),
    [({"outcome": "unfinished", "reason": "", "seed": 7}, KILLED), (TOLD, TOLD), (None, None)],
    ids=["unfinished", "told", "no record"],
)
def test_killing_the_parent_ends_the_guest(guest, reaper, alive, record, expected):
    one = guest(f"{FAMILY}\nsay('disk')\nwhile True: time.sleep(60)")
    path = one.request.run / "experiment.json"
    if record:
        path.write_text(json.dumps(record))
    arguments = [ROOT, one.request.linux, one.request.run, one.request.scratch, one.notes, reaper]
    with subprocess.Popen([sys.executable, "-c", HOLDER, *map(str, arguments)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"disk\n"
        assert all(alive(pid) for pid in one.pids())
        holder.kill()
    wait_until(lambda: nothing_left(one, alive))
    assert (json.loads(path.read_text()) if path.exists() else None) == expected


@pytest.mark.parametrize("killed", ["holder reaper", "holder guard", "reaper", "guard"])
def test_no_descendant_outlives_the_parent_and_the_reaper(guest, reaper, alive, killed):
    """A real attack: a hostile guest's processes request no signal at the death of their parents."""
    one = guest(f"{FAMILY}\nsay('disk')\nwhile True: time.sleep(60)")
    record = one.request.run / "experiment.json"
    record.write_text(json.dumps({"outcome": "unfinished", "reason": ""}))
    arguments = [ROOT, one.request.linux, one.request.run, one.request.scratch, one.notes, reaper]
    command = [sys.executable, "-c", HOLDER, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as holder:
        assert holder.stdout.readline() == b"disk\n"
        names = {name: pid for pid, name in descendants(holder.pid).items()}
        there = {"holder": holder.pid, "guard": names["wblab-guard"], "reaper": names["wblab-reaper"]}
        assert all(alive(pid) for pid in one.pids())
        for whom in killed.split():
            os.kill(there[whom], signal.SIGKILL)
        if "holder" not in killed:
            assert holder.wait(LIMIT_S) == 1  # it gives the reason
    wait_until(lambda: nothing_left(one, alive) and not any(alive(pid) for pid in there.values()))
    assert json.loads(record.read_text())["outcome"] == ("failed" if "holder" in killed else "unfinished")


def test_ctrl_c_in_the_terminal_does_not_reach_the_guest_itself(guest, reaper, alive):
    one = guest("note('guest'); signal.signal(signal.SIGINT, signal.SIG_DFL); say('disk')\nwhile True: time.sleep(60)")
    arguments = [ROOT, one.request.linux, one.request.run, one.request.scratch, one.notes, reaper]
    command = [sys.executable, "-c", HOLDER, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0) as holder:
        assert holder.stdout.readline() == b"disk\n"
        os.killpg(holder.pid, signal.SIGINT)
        holder.wait(LIMIT_S)
    assert nothing_left(one, alive)


def test_a_missing_run_directory_starts_nothing(guest, tmp_path):
    one = guest(GOOD_END)
    with nothing_stays_open(), pytest.raises((OSError, WblabError)):
        boot(replace(one.request, run=Path(tmp_path, "missing")), one.heard.append)
