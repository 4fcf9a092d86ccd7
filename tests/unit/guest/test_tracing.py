import re
import sys

import pytest

from wblab.core.errors import WblabError
from wblab.core.spec import Trace
from wblab.guest import tracing
from wblab.guest.tracing import Recording

# per_cpu/cpu0/stats as tracing_stats_read (kernel/trace/trace.c) writes it.
STATS = """entries: {entries}
overrun: {overrun}
commit overrun: {commit}
bytes: 4096
oldest event ts:     5.012345
now ts:    12.345678
dropped events: {dropped}
read events: {read}
"""
FIELDS = {"entries": 0, "overrun": 0, "commit": 0, "dropped": 0, "read": 0}


@pytest.fixture
def tracefs(tmp_path, monkeypatch):
    """A directory in place of tracefs: tracing_on is a plain file."""
    directory = tmp_path / "tracefs"
    monkeypatch.setattr(tracing, "TRACEFS", directory)
    for name in ("cpu0", "cpu1"):
        (directory / "per_cpu" / name).mkdir(parents=True)
        (directory / "per_cpu" / name / "stats").write_text(STATS.format(**FIELDS))
    return directory


@pytest.fixture
def tracecmd(tmp_path, tracefs):
    """Make a program in place of trace-cmd: it records until SIGINT and then runs this Python code."""

    def make(code):
        path = tmp_path / "trace-cmd"
        path.write_text(
            f"#!{sys.executable} -IS\nimport signal, sys, time\non = {str(tracefs / 'tracing_on')!r}\n{code}"
        )
        path.chmod(0o755)
        return Recording(Trace(events=("a:b", "c:*"), buffer=2 << 20), str(path), tmp_path / "trace.dat")

    return make


RECORDS = """
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
open(on, "w").write("1")
time.sleep(60)
"""


def stats(tracefs, cpu, **values):
    (tracefs / "per_cpu" / cpu / "stats").write_text(STATS.format(**FIELDS | values))


def test_the_command_records_the_events_with_the_loads_clock(tracecmd):
    words = " ".join(tracecmd("").command[1:])
    assert words.startswith("record -C mono -b 2048 -o ")
    assert words.endswith("trace.dat -e a:b -e c:*")


@pytest.mark.parametrize("count", [{"entries": 1}, {"read": 20}])
def test_recording_has_started_when_an_event_arrives(tracecmd, tracefs, count):
    stats(tracefs, "cpu1", **count)
    recording = tracecmd(RECORDS)
    recording.start(20)
    assert (tracefs / "trace_marker").read_text() == "wblab: recording"
    assert recording.stop() == 0
    assert recording.process.returncode == 0
    assert (tracefs / "tracing_on").read_text() == "0"


@pytest.mark.parametrize(
    ("lost", "total"),
    [({}, 0), ({"overrun": 3}, 3), ({"commit": 4}, 4), ({"dropped": 5}, 5), ({"overrun": 1, "dropped": 10}, 11)],
)
def test_lost_events_of_all_processors_are_counted(tracecmd, tracefs, lost, total):
    stats(tracefs, "cpu0", entries=7, read=9, **lost)
    stats(tracefs, "cpu1", overrun=100)
    recording = tracecmd(RECORDS)
    recording.start(20)
    assert recording.stop() == total + 100


def test_a_trace_without_any_event_is_refused(tracecmd):
    recording = tracecmd(RECORDS)
    with pytest.raises(WblabError, match="the kernel records no event: it printed nothing"):
        recording.start(20)
    recording.process.kill()
    recording.process.wait()


def test_a_trace_cmd_that_ends_is_reported_with_its_output(tracecmd):
    with pytest.raises(WblabError, match="trace-cmd ended with exit code 3: No such event a:b / see --help"):
        tracecmd("print('No such event a:b\\nsee --help', file=sys.stderr); sys.exit(3)").start(20)


def test_a_trace_cmd_that_does_not_start_recording_is_reported(tracecmd):
    recording = tracecmd("time.sleep(60)")
    with pytest.raises(WblabError, match=re.escape("trace-cmd did not start recording within 0.1 s of guest time")):
        recording.start(0.1)
    recording.process.kill()
    recording.process.wait()


def test_a_trace_cmd_that_fails_while_writing_is_reported(tracecmd, tracefs):
    stats(tracefs, "cpu0", entries=1)
    recording = tracecmd(RECORDS.replace("sys.exit(0)", "(print('no space'), sys.exit(1))"))
    recording.start(20)
    with pytest.raises(WblabError, match="trace-cmd failed while it wrote the trace: no space"):
        recording.stop()


def test_a_missing_trace_cmd_is_reported(tmp_path, tracefs):
    recording = Recording(Trace(events=("a:b",)), str(tmp_path / "missing"), tmp_path / "trace.dat")
    with pytest.raises(FileNotFoundError, match="missing"):
        recording.start(1)
