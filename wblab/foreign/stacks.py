"""Stacks of tasks in a text of any Linux from 3.0 on: one grammar for kernel logs, /proc/PID/stack, crash and drgn.

The text is a stranger's. Whatever it holds, reading it takes time in proportion to its length, which is bounded; a line
that is no frame and heads no task is left aside.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

from wblab.foreign.plaintext import lines_of
from wblab.foreign.stacklines import (
    ALONE,
    BLOCKED,
    CALL_TRACE,
    CRASH,
    GREPPED,
    GREPPED_COMM,
    MOST_LETTERS,
    NO_TASK,
    OFFSETS,
    ON_CPU,
    OWNED,
    PAST,
    PROC_COMM,
    PROC_STACK,
    RELEASE,
    SHOW_STATE,
    STATE,
    STATE_BEFORE,
    USER_THREAD,
    WORKQUEUE,
    Frame,
    frame_on,
    heading_of,
    unprefixed,
)

MOST_BYTES = 64 << 20
MOST_TASKS = 20_000
MOST_LINES = 2_000_000
_MOST_FRAMES = 128  # of a task
_NEAR = 2  # lines above a stack that stands alone, in which its task may be named
_MOST_NOISE = 12  # lines between two frames of one stack: what other processors print meanwhile

Source = Literal["hung task", "SysRq", "processor", "/proc", "crash", "bare"]


@dataclass(frozen=True)
class Task:
    """A task and its stack, innermost frame first.

    pid: -1 if the text does not have it; comm, state: empty then. waited_s: for how long at least it had been blocked,
    0 if not said. workqueue: what a kworker works on, such as flush-8:16. owner: who held the lock that it waits for,
    as the kernel's detector of hung tasks says (comm, pid). line: where it begins, from 1.
    """

    comm: str
    pid: int
    state: str
    frames: tuple[Frame, ...]
    source: Source
    line: int
    waited_s: int = 0
    workqueue: str = ""
    owner: tuple[str, int] | None = None

    @property
    def runs(self) -> bool:
        """Whether it was running or about to, and so waited for nothing."""
        return self.state.startswith("R") or self.source == "processor"


@dataclass(frozen=True)
class Stacks:
    """What a text has. release: of its kernel, empty if it does not say. is_cut: the text is longer than was read."""

    tasks: tuple[Task, ...]
    release: str = ""
    is_cut: bool = False


@dataclass
class _Begun:
    """A task whose stack is being read."""

    comm: str
    pid: int
    state: str
    source: Source
    line: int
    waited_s: int = 0
    workqueue: str = ""
    owner: tuple[str, int] | None = None
    frames: list[Frame] = field(default_factory=list)
    noise: int = 0

    def task(self) -> Task:
        return Task(
            *(self.comm.strip(), self.pid, self.state, tuple(self.frames), self.source, self.line),
            *(self.waited_s, self.workqueue, self.owner),
        )


def read_stacks(text: str) -> Stacks:
    """Return the tasks of a text that have a stack, in its order."""
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._now: _Begun | None = None
        self._blocked: dict[int, int] = {}
        self._owners: dict[int, tuple[str, int]] = {}
        self._comms: dict[int, str] = {}
        self._places: dict[int, int] = {}  # of each pid's last task in the list
        self._comm_next = -1  # the pid whose name is on the next line
        self._before = ""  # the last line that was no frame
        self._before_at = 0
        self._release = ""
        self._is_sysrq = False
        self._bare_ok = False
        self._is_past = False  # below a heading of what is no task that waits

    def read(self, text: str) -> Stacks:
        is_cut = False
        for at, line in enumerate(lines_of(text, MOST_LETTERS), 1):
            if at > MOST_LINES or len(self._tasks) >= MOST_TASKS:
                is_cut = True
                break
            self._line(line, at)
        self._end()
        return Stacks(tuple(self._tasks), self._release, is_cut)

    def _line(self, raw: str, at: int) -> None:
        line = unprefixed(raw[:MOST_LETTERS])
        if not line:
            self._is_past = False
            if self._now and self._now.source in {"/proc", "bare"} and self._now.frames:
                self._end()
            return
        if PAST.match(line) or USER_THREAD.match(line):
            self._end()
            self._is_past = True
            return
        if OFFSETS.search(line) is None and self._heads(line, at):
            return
        line = self._without_proc(line, at)
        if found := frame_on(line, is_open=self._now is not None, may_be_bare=self._bare_ok):
            self._add(found, at)
        else:
            self._other(line, at)

    def _heads(self, line: str, at: int) -> bool:
        """Begin a task if a line heads one, or note what it says of one."""
        is_info = "INFO: task " in line
        if is_info and (found := BLOCKED.search(line)):
            self._blocked[int(found["pid"])] = int(found["seconds"])
            self._note_release(line)
            self._end()
        elif is_info and (found := OWNED.search(line)):
            self._owners[int(found["pid"])] = found["owner"], int(found["owner_pid"])
            self._own(int(found["pid"]))
            self._end()
        elif (found := STATE.match(line)) or (found := STATE_BEFORE.match(line)):
            pid = int(found["pid"])
            source: Source = "SysRq" if self._is_sysrq and pid not in self._blocked else "hung task"
            self._begin(found["comm"], pid, found["state"], source, at)
        elif "COMMAND:" in line and (found := CRASH.search(line)):
            self._begin(found["comm"], int(found["pid"]), "", "crash", at)
        elif found := ON_CPU.match(line):
            self._note_release(line)
            if not (self._now and self._now.pid == int(found["pid"]) and not self._now.frames):
                self._begin(found["comm"], int(found["pid"]), "R", "processor", at)
        elif "/proc/" in line and (found := PROC_STACK.fullmatch(line)):
            pid = int(found["pid"])
            self._begin(self._comms.get(pid, self._comm_before(pid, at)), pid, "", "/proc", at)
        elif "/proc/" in line and (found := PROC_COMM.fullmatch(line)):
            self._end()
            self._comm_next = int(found["pid"])
        else:
            return self._says(line, at)
        return True

    def _says(self, line: str, at: int) -> bool:
        """Note what a line says of the task above it, or of the text."""
        if found := WORKQUEUE.match(line):
            if self._now and not self._now.workqueue:
                self._now.workqueue = found["what"] or found["queue"]
        elif CALL_TRACE.match(line):
            if self._now is None or self._now.frames:
                self._begin("", -1, "", "bare", at)
            self._bare_ok = True
        elif NO_TASK.search(line):
            self._is_sysrq = self._is_sysrq or bool(SHOW_STATE.search(line))
            self._end()
        elif self._comm_next >= 0:
            if ALONE.fullmatch(line):
                self._comms[self._comm_next] = line
            self._comm_next = -1
        else:
            return False
        return True

    def _without_proc(self, line: str, at: int) -> str:
        """Return a line without the file's name that grep puts before it, after beginning that file's task."""
        found = GREPPED.match(line) if line.startswith("/proc/") else None
        if not found:
            return line
        pid = int(found["pid"])
        if not (self._now and self._now.pid == pid and self._now.source == "/proc"):
            self._begin(self._comms.get(pid, ""), pid, "", "/proc", at)
        return line[found.end() :]

    def _add(self, frame: Frame, at: int) -> None:
        if self._is_past:
            return
        if self._now is None:
            comm, pid, state = heading_of(self._above(at))
            self._begin(comm, pid, state, "/proc", at)
        if self._now and len(self._now.frames) < _MOST_FRAMES:
            self._now.frames.append(frame)
            self._now.noise = 0

    def _other(self, line: str, at: int) -> None:
        if found := GREPPED_COMM.match(line):
            self._comms[int(found["pid"])] = found["comm"]
        self._note_release(line)
        self._before, self._before_at = line, at
        if self._now and self._now.frames:
            self._now.noise += 1
            if self._now.source in {"/proc", "bare"} or self._now.noise > _MOST_NOISE:
                self._end()

    def _comm_before(self, pid: int, at: int) -> str:
        comm, found, _ = heading_of(self._above(at))
        return comm if found in {pid, -1} else ""

    def _above(self, at: int) -> str:
        """Return the line above a stack that stands alone, where one is near."""
        return self._before if 0 < at - self._before_at <= _NEAR else ""

    def _begin(self, comm: str, pid: int, state: str, source: Source, at: int) -> None:
        self._end()
        self._is_past = False
        self._now = _Begun(comm, pid, state, source, at, self._blocked.pop(pid, 0), "", self._owners.get(pid))
        self._bare_ok = False

    def _end(self) -> None:
        if self._now and self._now.frames:
            self._places[self._now.pid] = len(self._tasks)
            self._tasks.append(self._now.task())
        self._now = None
        self._bare_ok = False

    def _own(self, pid: int) -> None:
        """Say who holds the lock of a task whose report stands above."""
        self._end()
        if (at := self._places.get(pid)) is not None:
            self._tasks[at] = replace(self._tasks[at], owner=self._owners[pid])

    def _note_release(self, line: str) -> None:
        if not self._release and (found := RELEASE.search(line)):
            self._release = found["release"]
