"""Traces as text with sched_switch (perf script, trace, trace_pipe, trace-cmd report): who slept uninterruptibly.

A sleep begins where a task is switched out in state D, and ends where it is switched in again. The stack below the
first line, if it was recorded, says for what it waited: perf prints it below the event, ftrace as a `<stack trace>`.
The last sched_waking before its end says who woke it, unless that came in an interrupt: then the line has the task that
was interrupted. Ftrace has that in the flags of the line (Documentation/trace/ftrace.rst); perf prints none.
"""

import re
from dataclasses import dataclass
from itertools import islice

from wblab.foreign.plaintext import lines_of
from wblab.foreign.stacklines import Frame
from wblab.foreign.stacks import Task

SIGN = "sched_switch:"
_MOST_LINES, _MOST_LETTERS, _MOST_SLEEPS, _MOST_FRAMES = 3_000_000, 1024, 500_000, 64
HEAD = re.compile(
    r"\s{0,32}(?P<comm>\S.{0,31}?)(?:-|\s+)(?P<pid>\d{1,8})(?:/\d{1,8})?\s+(?:\([ \d-]{1,12}\)\s+)?\[\d{1,5}\]\s+"
    r"(?:(?P<flags>[\w.#]{3,8})\s+)?(?P<at>\d{1,12}\.\d{3,9}):\s+(?P<rest>\S.*)"
)
_NAMED = re.compile(
    r"(?:sched:)?sched_switch:\s+(?:\[FAILED TO PARSE\]\s+)?prev_comm=(?P<comm>.{1,40}?) prev_pid=(?P<pid>\d{1,8}) "
    r"prev_prio=\d{1,4} prev_state=(?P<state>\S{1,12}) (?:==> )?next_comm=.{1,40}? next_pid=(?P<next>\d{1,8})\b"
)
_SHORT = re.compile(
    r"(?:sched:)?sched_switch:\s+(?P<comm>.{1,40}?):(?P<pid>\d{1,8}) \[\d{1,4}\] (?P<state>\S{1,12}) ==> "
    r".{1,40}?:(?P<next>\d{1,8}) \[\d{1,4}\]"
)
WAKING = "sched_waking:"
INTERRUPT = "an interrupt"
_WAKES = re.compile(r"(?:sched:)?sched_waking:\s+comm=.{1,40}? pid=(\d{1,8}) ")
_NO_NAME = "<...>"  # of ftrace: it does not know the name any more
_CONTEXT = 2  # of the flags: whether in an interrupt
_OF_PERF = re.compile(
    r"\s+[0-9a-f]{6,16} (?P<name>[A-Za-z_][\w.]{0,120})(?:\+0x[0-9a-f]{1,8})? \(\[(?P<module>[\w.-]{1,60})\]"
)
_OF_FTRACE = re.compile(r"\s*=> (?P<name>[A-Za-z_][\w.]{0,120})")
_STACK = re.compile(r"(?:kernel_stack:\s+)?<stack trace ?>")
_SUFFIX = re.compile(r"\.(?:isra|part|constprop|cold|llvm)\b.*")
_KERNEL = {"kernel.kallsyms", "guest.kernel.kallsyms", "kernel"}


@dataclass(frozen=True)
class Sleep:
    """An uninterruptible sleep. slept_s: until the task ran again, or, if not is_over, until the text's end.

    waker: the name of the task that woke it, or INTERRUPT; empty if that is not known.
    """

    task: Task
    begin_s: float
    slept_s: float
    is_over: bool = True
    waker: str = ""


@dataclass(frozen=True)
class Sleeps:
    """What a text says of sleeps, in the order of their ends. switches: in all, in lasted_s."""

    sleeps: tuple[Sleep, ...]
    switches: int
    lasted_s: float
    has_stacks: bool
    is_cut: bool


@dataclass
class _Open:
    comm: str
    begin_s: float
    line: int
    frames: list[Frame]
    waker: str = ""


def read_sleeps(text: str) -> Sleeps | None:
    """Return the uninterruptible sleeps that a trace as text has; None if it has no switches."""
    reader = _Reader()
    lines = lines_of(text, _MOST_LETTERS)
    for number, line in enumerate(islice(lines, _MOST_LINES), 1):
        reader.line(line, number)
        if len(reader.found) >= _MOST_SLEEPS:
            break
    return reader.result(is_cut=next(lines, None) is not None) if reader.switches else None


class _Reader:
    def __init__(self) -> None:
        self.found: list[Sleep] = []
        self.switches = 0
        self._open: dict[int, _Open] = {}
        self._last: tuple[int, _Open] | None = None  # who was switched out last, on whose stack lines may follow
        self._is_stack = False
        self._first_s = self._now_s = 0.0
        self._has_stacks = False

    def line(self, line: str, number: int) -> None:
        if SIGN in line and (head := HEAD.match(line)):
            self._switch(head, number)
        elif WAKING in line and (head := HEAD.match(line)):
            self._waking(head)
        elif self._last and self._is_stack and (frame := _OF_PERF.match(line) or _OF_FTRACE.match(line)):
            self._frame(frame)
        elif "<stack trace" in line and (head := HEAD.match(line)) and _STACK.match(head["rest"]):
            slept = self._open.get(int(head["pid"]))
            self._last = (int(head["pid"]), slept) if slept and not slept.frames else None
            self._is_stack = bool(self._last)
        elif line.strip():
            self._is_stack = False

    def _switch(self, head: re.Match[str], number: int) -> None:
        switch = _NAMED.match(head["rest"]) or _SHORT.match(head["rest"])
        if not switch:
            return
        at_s, pid, following = float(head["at"]), int(switch["pid"]), int(switch["next"])
        self._first_s = at_s if not self.switches else self._first_s
        self._now_s = max(self._now_s, at_s)
        self.switches += 1
        if following and (slept := self._open.pop(following, None)):
            self._end(following, slept, at_s, is_over=True)
        self._last, self._is_stack = None, True
        if switch["state"].startswith("D") and pid:
            begun = _Open(switch["comm"].strip(), at_s, number, [])
            self._open[pid] = begun
            self._last = pid, begun

    def _waking(self, head: re.Match[str]) -> None:
        self._is_stack = False
        if (woken := _WAKES.match(head["rest"])) and (slept := self._open.get(int(woken[1]))):
            flags, is_idle = head["flags"] or "", head["pid"] == "0"
            in_task = len(flags) > _CONTEXT and flags[_CONTEXT] == "."
            is_known = bool(flags) or is_idle  # the idle task wakes nobody by itself
            by_task = "" if head["comm"] == _NO_NAME else head["comm"]
            slept.waker = "" if not is_known else by_task if in_task and not is_idle else INTERRUPT

    def _frame(self, found: re.Match[str]) -> None:
        assert self._last
        frames = self._last[1].frames
        module = found.groupdict().get("module") or ""
        if len(frames) < _MOST_FRAMES:
            frames.append(Frame(_SUFFIX.sub("", found["name"]), True, "" if module in _KERNEL else module))
            self._has_stacks = True

    def _end(self, pid: int, slept: _Open, at_s: float, *, is_over: bool) -> None:
        if at_s >= slept.begin_s:
            task = Task(slept.comm, pid, "D", tuple(slept.frames), "bare", slept.line)
            self.found.append(Sleep(task, slept.begin_s, at_s - slept.begin_s, is_over, slept.waker if is_over else ""))

    def result(self, *, is_cut: bool) -> Sleeps:
        for pid, slept in self._open.items():
            self._end(pid, slept, self._now_s, is_over=False)
        lasted_s = max(self._now_s - self._first_s, 0.0)
        return Sleeps(tuple(self.found), self.switches, lasted_s, self._has_stacks, is_cut)
