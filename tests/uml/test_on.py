"""`wblab on` as its users call it: a program of one's own in a guest, with its files on the guest's disk."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from xml.etree import ElementTree

import pytest

from wblab.kernels import find_kernel
from wblab.lab.places import ROOT
from wblab.on.world import KERNEL

PYTHON = "/usr/bin/python3"
WRITES = """
import os, sys
print(os.getcwd(), sys.argv[1:], sys.stdin.read().strip(), flush=True)
print("to standard error", file=sys.stderr)
with open("made", "wb") as file:
    for _ in range(4):
        file.write(bytes(1 << 20))
        file.flush()
        os.fsync(file.fileno())
sys.exit(3)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory, kernel):
    if not os.access(PYTHON, os.X_OK):
        pytest.skip("no Python /usr/bin/python3 on this machine")
    place = tmp_path_factory.mktemp("project")
    (place / "writes.py").write_text(WRITES)
    return place


def on(place, *words, given="", **options):
    command = [sys.executable, "-m", "wblab", "on", "--exp", str(place.parent / "exp"), *words]
    return subprocess.run(
        command, cwd=place, input=given, capture_output=True, text=True, check=False, timeout=600, **options
    )


@pytest.fixture(scope="module")
def done(place, kernel):
    """A program that writes behind a copy."""
    words = (
        "--kernel",
        "7.2",
        "--beside",
        "copy",
        "--keep",
        "made",
        "--limit",
        "200ms",
        "--json",
        "--junit",
        "../found.xml",
    )
    return on(place, "sd-card", *words, "--", PYTHON, "writes.py", "a b", given="word")


def test_streams_arguments_directory_and_exit_code_pass_through(done, place):
    assert done.stdout == f"{place} ['a b'] word\n"
    assert done.stderr.startswith("to standard error\n")
    assert done.returncode == 3


def test_its_longest_call_is_named_and_what_it_made_comes_back(done, place):
    told = json.loads(done.stderr[done.stderr.index("{") :])
    assert (told["exit_code"], told["longest"]["name"]) == (3, "fsync")
    assert told["longest"]["time_ns"] > 2 * 10**9  # the copy is in front of it
    assert (place / "made").stat().st_size == 4 << 20
    (case,) = ElementTree.parse(place.parent / "found.xml").getroot().iter("testcase")
    assert float(case.get("time")) > 2
    assert case.find("failure").get("message") == f"exit code 3; longest call: {told['told']}"
    assert case.findtext("system-out") == done.stdout


def test_it_repeats_to_the_bit(done, place):
    told = json.loads(done.stderr[done.stderr.index("{") :])
    again = subprocess.run(
        [sys.executable, "-m", "wblab", "repeat", told["directory"], "--exp", str(place.parent / "exp")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert again.stdout.startswith("Identical"), again.stderr


def test_alone_it_is_within_the_limit_and_says_so(place):
    script = "open('f','w').write('x'); import os; print(os.isatty(1), os.environ.get('SECRET'))"
    words = ("--kernel", "7.2", "--limit", "10s", "ram", "--", PYTHON, "-c", script)
    done = on(place, *words, env=os.environ | {"SECRET": "s"})
    assert (done.returncode, done.stdout) == (0, "False None\n")
    assert "took longer than 1 ms" in done.stderr
    assert not (place / "f").exists()


def test_a_command_that_is_not_there_ends_as_with_env(place):
    done = on(place, "--kernel", "7.2", "ram", "--", "no-such-program")
    assert done.returncode == 127
    assert "cannot run 'no-such-program': No such file or directory" in done.stderr


LOOKS = """
import os, tempfile, time
device = os.stat(".").st_dev
print(all(os.stat(place).st_dev == device for place in (tempfile.gettempdir(), os.path.expanduser("~"))))
print(os.stat("/tmp").st_dev == device, time.time() > max(os.stat(name).st_mtime for name in os.listdir(".")))
print(sorted(map(os.fsencode, os.listdir("."))))
os.mkdir("back")
os.mkfifo("back/pipe")
os.symlink("/etc/passwd", "back/link")
open("back/a", "w").write("kept")
os.link("back/a", "back/b")
os.chdir("back")
os.kill(os.getpid(), 9)
"""


def test_a_strangers_directory_goes_along_and_only_files_come_back(place, tmp_path):
    project = tmp_path / "project"
    names = [b"new\nline", b"not \xff UTF-8", b"looks.py", b"-rf"]
    project.mkdir()
    for name in names:
        (project / os.fsdecode(name)).write_text(LOOKS)
    (project / "outside").symlink_to("/")
    done = on(project, "--kernel", "7.2", "--keep", "back", "ram", "--", PYTHON, "looks.py")
    assert done.stdout.splitlines() == ["True", "False True", str(sorted([*names, b"outside"]))]
    assert done.returncode == 137
    assert "it was ended by signal SIGKILL" in done.stderr
    assert "--keep back/pipe: it is no file" in done.stderr
    assert {path.name: path.read_text() for path in (project / "back").iterdir()} == {"a": "kept", "b": "kept"}


def test_a_program_whose_output_nobody_reads_ends(place):
    command = [sys.executable, "-m", "wblab", "on", "--exp", str(place.parent / "exp"), "--kernel", "7.2", "ram"]
    process = subprocess.Popen([*command, "--", "yes"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"y\n"
    process.stdout.close()
    assert process.wait(timeout=300) == 141
    assert process.stderr.read() == b""


def test_a_text_without_an_interpreter_is_a_shells_and_begins_where_its_user_is(place):
    (place / "below").mkdir()
    (place / "below" / "text").write_text('pwd; echo "$1"; exit 5\n')
    (place / "below" / "text").chmod(0o755)
    done = on(
        place / "below",
        "--exp",
        str(place.parent / "exp"),
        "--dir",
        "..",
        "--kernel",
        "7.2",
        "ram",
        "--",
        "./text",
        "a b",
    )
    assert (done.stdout, done.returncode) == (f"{place / 'below'}\na b\n", 5)


@pytest.mark.soak
def test_many_files_go_along(place, tmp_path):
    for number in range(30_000):
        (tmp_path / str(number)).touch()
    done = on(tmp_path, "--exp", str(place.parent / "exp"), "--kernel", "7.2", "ram", "--", "sh", "-c", "ls | wc -l")
    assert (done.stdout, done.returncode) == ("30000\n", 0)


SERVER = """
import os, socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print(server.accept()[1][0], os.path.samefile(os.__file__, os.__file__), end=" ")
try:
    open("/etc/shadow")
except OSError as error:
    print(type(error).__name__, flush=True)
over = False
def end():
    global over
    over = True
threading.Timer(0.2, end).start()
while not over:
    pass
print("over")
"""


def test_a_server_a_spinning_thread_and_a_refused_file(place):
    if not find_kernel(KERNEL):
        pytest.skip(f"the kernel {KERNEL} is not built: wblab kernel build {KERNEL}")
    done = on(place, "--kernel", KERNEL, "ram", "--", PYTHON, "-c", SERVER)
    assert done.stdout == "127.0.0.1 True FileNotFoundError\nover\n"
    assert "not granted, so they did not exist: /etc/shadow" in done.stderr
    directory = done.stderr.split("run: ")[1].splitlines()[0]
    command = [sys.executable, "-m", "wblab", "repeat", directory, "--exp", str(place.parent / "exp")]
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert again.returncode == 1
    assert "followed the host's for a while" in again.stderr


@pytest.fixture(scope="module")
def faulty(place):
    """Runs a program on a disk with faults, which needs the kernel for programs."""
    if not find_kernel(KERNEL):
        pytest.skip(f"the kernel {KERNEL} is not built: wblab kernel build {KERNEL}")
    (place / "keeps.py").write_text(KEEPS)
    return lambda *words, **options: on(place, "--kernel", KERNEL, "--json", *words, **options)


KEEPS = """
import os, time
for place in ("/tmp", "/dev/shm"):
    open(f"{place}/left", "w").close()
for name in ("synced", "written"):
    with open(name, "wb") as file:
        file.write(name.encode() * 1000)
        file.flush()
        if name == "synced":
            os.fsync(file.fileno())
    print(name, flush=True)
time.sleep(3600)
"""


def test_a_loss_of_power_leaves_what_was_flushed_and_no_more(faulty, place):
    check = "cat; for name in synced written; do wc -c <$name; done; ls /tmp/left /dev/shm/left; exit 7"
    done = faulty("--crash-at", "2s", "--then", check, "sd-card", "--", PYTHON, "keeps.py")
    assert done.returncode == 7
    words = done.stdout.split()
    assert words[:5] == ["synced", "written", "synced", "written", "6000"]
    assert words[5:] in ([], ["0"])  # the name may have reached the journal, its data had not
    told = json.loads(done.stderr[done.stderr.index("{") :])
    assert told["notes"][0].startswith("power was lost 2.0")
    again = [sys.executable, "-m", "wblab", "repeat", told["directory"], "--exp", str(place.parent / "exp")]
    repeated = subprocess.run(again, capture_output=True, text=True, check=False, timeout=600)
    assert repeated.stdout.startswith("Identical"), repeated.stderr


def test_power_is_lost_after_each_number_of_writes_that_is_asked_for(faulty):
    done = faulty("--crash-after", "1..3", "--then", "ls synced || true", "sd-card", "--", PYTHON, "keeps.py")
    assert [f"after {number} writes of the disk" in done.stderr for number in range(1, 5)] == [True] * 3 + [False]
    assert done.returncode == 0


def test_a_write_fails_a_disk_stands_still_and_a_disk_is_full(faulty):
    script = """
import os, time
for number in range(4):
    try:
        with open(str(number), "wb") as file:
            file.write(bytes(1 << 20)); file.flush(); begin = time.monotonic(); os.fsync(file.fileno())
            print(number, "slow" if time.monotonic() - begin > 5 else "synced")
    except OSError as error:
        print(number, error.strerror)
    time.sleep(1)
"""
    command = ("sd-card", "--", PYTHON, "-c", script)
    failed = faulty("--error-at", "1", *command).stdout.splitlines()
    assert failed[0] == "0 Input/output error"
    stalled = faulty("--stall-at", "1.05s:9s", *command).stdout.splitlines()
    assert [line.split()[1] for line in stalled].count("slow") == 1
    full = faulty("--full-at", "2500KiB", *command).stdout.splitlines()
    assert full == ["0 synced", "1 synced", "2 No space left on device", "3 No space left on device"]


def test_power_is_lost_also_for_a_program_that_has_closed_its_outputs(faulty):
    script = "exec >&- 2>&-; sleep 3600"
    done = faulty("--crash-at", "1s", "--then", "echo again", "ssd", "--", "sh", "-c", script)
    assert (done.stdout, done.returncode) == ("again\n", 0)
    assert "power was lost 1.0" in done.stderr


@pytest.mark.parametrize(("setting", "lost"), [((), "lost 1, ok"), (("DELETE", "EXTRA"), "lost 0, ok")])
def test_sqlite_keeps_its_last_row_only_if_it_syncs_the_directory(faulty, place, setting, lost):
    shutil.copy(ROOT / "misc" / "programs" / "sqlite", place)
    words = ("--crash-at", "end", "--then", f"{PYTHON} sqlite check", "ssd", "--", PYTHON, "sqlite", "write", *setting)
    assert faulty(*words).stdout.splitlines()[-1] == lost


WAITS = """
import signal, sys, time
def handle(number, frame):
    print("handled", number, flush=True)
    open("left", "w").close()
    sys.exit(42)
if sys.argv[1:] == ["handles"]:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)
else:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
print("begins", flush=True)
time.sleep(1_000_000)
"""


@pytest.fixture
def interrupted(place, tmp_path):
    """Starts a program that waits; returns what it prints and its exit code after a signal."""
    (place / "waits.py").write_text(WAITS)

    def end(number, *words):
        command = [sys.executable, "-m", "wblab", "on", "--exp", str(tmp_path), "--kernel", "7.2", "--keep", "left"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command += ["ram", "--", PYTHON, "waits.py", *words]
        with subprocess.Popen(command, cwd=place, text=True, **streams) as process:
            assert process.stdout.readline() == "begins\n"
            process.send_signal(number)
            out, err = process.communicate(timeout=600)
        return out, err, process.returncode

    return end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command_and_its_exit_code_is_ours(interrupted, place, tmp_path, number):
    out, err, code = interrupted(number, "handles")
    assert (out, code) == (f"handled {number.value}\n", 42)
    assert (place / "left").exists()  # what it made in its handler comes back
    assert err.splitlines()[-1].endswith("it does not repeat to the bit: it got a signal")
    (run,) = tmp_path.glob("2*")
    again = subprocess.run(
        [sys.executable, "-m", "wblab", "repeat", run], capture_output=True, text=True, check=False, timeout=600
    )
    assert (again.returncode, again.stderr) == (
        2,
        f"wblab: {run} got a signal while it ran: such a run does not repeat\n",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_a_signal_ends_has_the_code_of_a_shell(interrupted, number):
    out, err, code = interrupted(number)
    assert (out, code) == ("", 128 + number)
    assert f"it was ended by signal {number.name}" in err


def test_ctrl_c_of_a_terminal_reaches_the_command(place, tmp_path):
    (place / "waits.py").write_text(WAITS)
    command = ["--exp", str(tmp_path), "--kernel", "7.2", "ram", "--", PYTHON, "waits.py", "handles"]
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(place)
        os.execv(sys.executable, [sys.executable, "-m", "wblab", "on", *command])
    printed = b""
    with suppress(OSError):  # nobody has the terminal any more
        while piece := os.read(terminal, 4096):
            if b"begins" in piece:
                os.write(terminal, b"\x03")
            printed += piece
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42
    assert b"handled 2" in printed
    assert b"another one ends the guest" in printed


def test_what_the_kernel_lacks_and_an_instruction_that_is_none_are_named(place):
    script = "import ctypes; ctypes.CDLL(None).syscall(298); ctypes.string_at(0)"
    done = on(place, "--kernel", "7.2", "ram", "--", PYTHON, "-c", script)
    assert "the guest's kernel lacks what it asked for: perf_event_open of python3" in done.stderr
    kills = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    done = on(place, "--kernel", "7.2", "ram", "--", PYTHON, "-c", kills)
    assert done.returncode == 132
    assert "SIGILL: it used an instruction" in done.stderr


def test_several_seeds_end_with_a_table_of_what_differs(place):
    script = "import os; print(os.urandom(8).hex())"
    done = on(place, "--kernel", "7.2", "--seeds", "2", "ram", "--", PYTHON, "-c", script)
    rows = [line.split()[1:] for line in done.stderr.splitlines()[-5:]]
    assert (rows[0][0], rows[0][-1], rows[1][-1], rows[2][-1]) == ("run", "output", "A", "B")
    assert rows[3][:7] == ["the", "same", "in", "all", "2", "runs:", "exit"]


def test_a_real_clock_is_a_check(place):
    done = on(place, "--kernel", "7.2", "--clock", "real", "sd-card", "--", PYTHON, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr.endswith("it does not repeat to the bit: its clock is this machine's\n")


def test_a_fork_bomb_ends_with_the_command_that_dropped_it(place):
    done = on(place, "--kernel", "7.2", "ram", "--", "bash", "-c", "b() { b | b & }; b; echo dropped")
    assert (done.stdout, done.returncode) == ("dropped\n", 0)


READS = """
import os
def look(name):
    try:
        with open(name, "rb") as file:
            print(name, len(file.read()))
    except OSError as error:
        print(name, error.strerror)
for name in ("data", "data", "other"):
    look(name)
with open("data", "r+b") as file:
    file.write(bytes(200_000))
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
look("data")
"""


def test_what_cannot_be_read_stays_so_until_it_is_written_anew(faulty, tmp_path):
    for name in ("data", "other"):
        (tmp_path / name).write_bytes(bytes(200_000))
    command = ("--dir", tmp_path, "ssd", "--", PYTHON, "-c", READS)
    bad = "Input/output error"
    assert faulty("--error-at", "read:1", *command).stdout.splitlines() == [
        f"data {bad}", f"data {bad}", "other 200000", "data 200000",
    ]  # fmt: skip
    none = faulty("--error-at", "read:99", *command)
    assert "Input/output" not in none.stdout
    assert "no read of the disk failed: it had " in json.loads(none.stderr[none.stderr.index("{") :])["notes"][0]


TEARS = """
import mmap, os, sys, time
fd, block = os.open("torn", os.O_RDWR | os.O_CREAT | os.O_DIRECT), mmap.mmap(-1, 1 << 16)
if sys.argv[1] == "write":
    for letter in b"ab":
        block[:] = bytes([letter]) * len(block)
        os.pwrite(fd, block, 0)
        if letter == ord("a"):
            os.fsync(fd)
    time.sleep(3600)
os.preadv(fd, [block], 0)
print(any(len(set(block[at : at + 4096])) > 1 for at in range(0, len(block), 4096)))
print(any(len(set(block[at : at + 512])) > 1 for at in range(0, len(block), 512)))
"""


@pytest.mark.parametrize(("words", "is_torn"), [((), False), (("--torn",), True)])
def test_a_loss_of_power_tears_4_kib_only_if_it_is_asked_to_and_never_a_sector(faulty, place, words, is_torn):
    (place / "tears.py").write_text(TEARS)
    then = ("--crash-at", "2s", "--then", f"{PYTHON} tears.py check")
    done = faulty("--seed", "3", *words, *then, "ssd", "--", PYTHON, "tears.py", "write")
    assert done.stdout.splitlines() == [str(is_torn), "False"]


def test_a_file_with_more_holes_than_the_disk_has_room_stays_there(place, tmp_path):
    script = "truncate -s 100G large; echo small >small"
    done = on(tmp_path, "--exp", tmp_path / "exp", "--kernel", "7.2", "--keep", ".", "ram", "--", "sh", "-c", script)
    assert done.returncode == 0
    assert "--keep ./large: with its holes it is larger than the disk, so it does not come back" in done.stderr
    assert ((tmp_path / "small").read_text(), (tmp_path / "large").exists()) == ("small\n", False)
