"""Texts with stacks of tasks, as Linux 3.0 to 7.2 and tools print them; made of the lines of tests/data/foreign."""

import re
import shlex
from dataclasses import dataclass

from wblab.lab.places import ROOT

FILE, STATES = ROOT / "tests/data/foreign/stacks.txt", ROOT / "tests/data/foreign/states.txt"
HEX = "ffff88003daf3680"


@dataclass(frozen=True)
class Case:
    """A task with the known answer. frames: (name, sure, module)."""

    linux: str
    form: str
    comm: str
    pid: int
    kind: str
    call: str
    filesystem: str
    frames: tuple[tuple[str, bool, str], ...]

    @property
    def version(self):
        return tuple(map(int, self.linux.split(".")))


@dataclass(frozen=True)
class Machine:
    """Several tasks with the state that they tell, the chain of holders, and what the last of them waits for."""

    state: str
    chain: tuple[str, ...]
    end: str
    cases: tuple[Case, ...]


def cases():
    return [_case(line) for line in FILE.read_text().splitlines() if line and not line.startswith("#")]


def machines():
    found = []
    for block in STATES.read_text().split("\n= ")[1:]:
        head, *lines = block.strip().splitlines()
        state, chain, end = (part.strip() for part in head.split(" : ", 2) + [""] * (2 - head.count(" : ")))
        names = tuple(name.strip() for name in chain.split(">") if name.strip(": "))
        found.append(Machine(state, names, end.strip(": "), tuple(map(_case, lines))))
    return found


def _case(line):
    about, _, functions = line.partition(" : ")
    linux, form, comm, pid, _, kind, call, filesystem = shlex.split(about)
    said = ["" if word == "-" else word for word in (call, filesystem)]
    return Case(linux, form, comm, int(pid), kind, *said, tuple(map(_frame, functions.split())))


def _frame(word):
    found = re.fullmatch(r"(\?)?([\w.]+)(?:\[(\w+)\])?", word)
    return found[2], not found[1], found[3] or ""


def text(case, form=""):
    """The case as a text of its form, or of another one."""
    form = form or case.form
    return FORMS[form](case)


def hung(case):
    """A report of the detector of hung tasks, as `dmesg` prints it."""
    lines = [
        f"INFO: task {case.comm}:{case.pid} blocked for more than 120 seconds.",
        f"      Not tainted {case.linux}.0-42-generic #43",
        '"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.',
        *_head_and_stack(case),
    ]
    return _stamped(lines)


def sysrq(case):
    """What SysRq-w prints."""
    said = "SysRq : Show Blocked State" if case.version < (4, 19) else "sysrq: Show Blocked State"
    head = ["  task                        PC stack   pid father"] if case.version < (5, 10) else []
    return _stamped([said, *head, *_head_and_stack(case)])


def journalctl(case):
    return "\n".join(f"Nov 03 10:01:{at % 60:02} db kernel: {line}" for at, line in enumerate(_head_and_stack(case)))


def dmesg_t(case):
    return "\n".join(f"[Mon Nov  3 10:01:{at % 60:02} 2025] {line}" for at, line in enumerate(_head_and_stack(case)))


def netconsole(case):
    return "\n".join(f"4,{at + 900},{at + 120000000},-;{line}" for at, line in enumerate(_head_and_stack(case)))


def mailed(case):
    return "\n".join(f"> > {line}" for line in hung(case).splitlines())


def with_caller(case):
    return "\n".join(f"[  120.{at:06}][  T{case.pid}] {line}" for at, line in enumerate(_head_and_stack(case)))


def iso(case):
    return "\n".join(
        f"2025-11-03T10:01:{at % 60:02}.123456+00:00 db kernel: [  120.{at:06}] {line}"
        for at, line in enumerate(_head_and_stack(case))
    )


def _logged(prefix):
    """A form in which each line of a kernel log has a prefix, made of its number."""

    def form(case):
        return "\n".join(f"{prefix(at)}{line}" for at, line in enumerate(_head_and_stack(case)))

    return form


dmesg_x = _logged(lambda at: f"kern  :{'err   ' if at == 0 else 'info  '}: [Fri Nov 27 08:12:{at % 60:02} 2026] ")
dmesg_d = _logged(lambda at: f"[ 3721.000{at:03} <    0.000{at:03}>] ")
dmesg_e = _logged(lambda at: f"[  +0.000{at:03}] " if at else "[Nov27 08:12] ")
short_unix = _logged(lambda at: f"1795766721.{at:06} db kernel: ")
short_full = _logged(lambda at: f"Fri 2026-11-27 08:12:{at % 60:02} CET db kernel: ")
grepped = _logged(lambda at: f"/var/log/messages-20261127:{at + 100}:Nov 27 08:12:{at % 60:02} db kernel: ")
collected = _logged(lambda at: f'{{"log":"2026-11-27T08:12:{at % 60:02} srv7/db.json [ 3721.{at:06}] ')
phone = _logged(lambda at: f"<6>[ 3721.{at:06}] (2)[77:khungtaskd]")
other_phone = _logged(lambda at: f"<3>[ 3721.{at:06}]  [2:     khungtaskd:   77] ")
exported = _logged(lambda at: f"__REALTIME_TIMESTAMP=1795766721{at:06}\nMESSAGE=")
_ALL = ("dmesg_x", "dmesg_d", "dmesg_e", "short_unix", "short_full", "grepped", "collected", "phone", "other_phone")
LOGGED = {each: globals()[each] for each in (*_ALL, "exported")}


def decoded(case):
    """What decode_stacktrace.sh of the kernel's sources makes of a stack: a file and a line in place of offsets."""
    stack = [
        f" {'' if sure else '? '}{name} (fs/file.c:{at + 10} (discriminator 2))"
        for at, (name, sure, _) in enumerate(case.frames)
    ]
    return _stamped([_head(case), "Call Trace:", " <TASK>", *stack, " </TASK>"])


def inlined(case):
    """A report of syzkaller, which has the names of inlined functions between the kernel's own lines."""
    stack = [
        line
        for at, frame in enumerate(case.frames)
        for line in (f" helper_of_{at} include/linux/of.h:{at} [inline]", f" {_with_offset(frame)} fs/of.c:{at}")
    ]
    return _stamped([_head(case), "Call Trace:", " <TASK>", *stack, " </TASK>"])


def proc(case):
    """What head prints of comm and stack in /proc."""
    stack = [
        f"[<0>] {_with_offset(frame)}" if case.version >= (4, 15) else f"[<{HEX}>] {_with_offset(frame)}"
        for frame in frames_in_proc(case)
    ]
    end = [] if case.version >= (4, 15) else ["[<ffffffffffffffff>] 0xffffffffffffffff"]
    return "\n".join([f"==> /proc/{case.pid}/comm <==", case.comm, "", f"==> /proc/{case.pid}/stack <==", *stack, *end])


def proc_loop(case):
    """What a loop of a shell prints that echoes the pid and the name first."""
    return "\n".join(
        [f"{case.pid} {case.comm}", *(f"[<0>] {_with_offset(frame)}" for frame in frames_in_proc(case)), ""]
    )


def proc_grep(case):
    return "\n".join(
        [
            f"/proc/{case.pid}/comm:{case.comm}",
            *(f"/proc/{case.pid}/stack:[<0>] {_with_offset(frame)}" for frame in frames_in_proc(case)),
        ]
    )


def crash(case):
    lines = [f'PID: {case.pid}   TASK: {HEX}  CPU: 1   COMMAND: "{case.comm}"']
    for at, (name, _, module) in enumerate(frame for frame in case.frames if frame[1]):
        lines.append(f" #{at} [{HEX}] {name} at ffffffff8163a909{f' [{module}]' if module else ''}")
    return "\n".join(
        [*lines, "    RIP: 00007f0c3a5d12d7  RSP: 00007ffe1a  RFLAGS: 00000246", "    RAX: ffffffffffffffda"]
    )


def drgn(case):
    return "\n".join(
        [f"PID {case.pid} ({case.comm})"]
        + [f"#{at:<2} {name} (fs/file.c:{at + 10}:3)" for at, (name, sure, _) in enumerate(case.frames) if sure]
    )


def arm(case):
    """The 32-bit arm, whose lines have caller and callee."""
    names = [frame[0] for frame in case.frames if frame[1]]
    pairs = zip(names, [*names[1:], "ret_fast_syscall"], strict=True)
    if case.version >= (5, 19):
        stack = [f" {name} from {caller}+0x50/0xa4" for name, caller in pairs]
    else:
        stack = [f"[<c0a31b2c>] ({name}) from [<c0a31f50>] ({caller}+0x50/0xa4)" for name, caller in pairs]
    return _stamped([_head(case), *stack])


def arm64(case):
    return _stamped([_head(case), "Call trace:", *(f" {_with_offset(frame)}" for frame in case.frames)])


def powerpc(case):
    stack = [f"[c00000001f2b7{at:03x}] [c000000000a1b2c4] {_with_offset(f)}" for at, f in enumerate(case.frames)]
    return _stamped([_head(case), "Call Trace:", f"{stack[0]} (unreliable)", *stack])


def s390(case):
    first, *rest = [f"[<00000000001139a2>] {_with_offset(frame)}" for frame in case.frames]
    return _stamped(
        [_head(case), "Call Trace:", f"([<00000000001139a2>] {_with_offset(case.frames[0])})", first, *rest]
    )


def bare(case):
    """Typed off a screen: names only."""
    return "\n".join([_head(case), "Call Trace:", *(f"  {name}" for name, sure, _ in case.frames if sure)])


def _head_and_stack(case):
    x86_32 = case.version < (4, 9)
    stack = [f" [<{HEX}>] {_with_offset(frame)}" if x86_32 else f" {_with_offset(frame)}" for frame in case.frames]
    words = [f" {HEX} 0000000000000046 {HEX} {HEX}"] if case.version < (4, 9) else []
    begin, end = ([" <TASK>"], [" </TASK>"]) if case.version >= (5, 15) else ([], [])
    return [_head(case), *words, "Call Trace:", *begin, *stack, *end]


def _head(case):
    comm, version = case.comm[:15], case.version
    if version >= (6, 14):
        pids = f"pid:{case.pid:<5} tgid:{case.pid:<5} ppid:2     "
        return f"task:{comm:<15} state:D stack:0     {pids} task_flags:0x400040 flags:0x00004000"
    if version >= (5, 14):
        return f"task:{comm:<15} state:D stack:    0 pid:{case.pid:5} ppid:     2 flags:0x00004000"
    if version >= (5, 10):
        return f"task:{comm:<15} state:D stack:    0 pid:{case.pid:>5} ppid:     2 flags:0x00000080"
    address = f" {HEX}" if version < (4, 9) else "   "
    return f"{comm:<15} D{address} {0:5} {case.pid:5} {2:6} 0x00000080"


def frames_in_proc(case):
    """The frames that /proc shows: none of the scheduler, none that is unsure."""
    scheduler = ("schedule", "__schedule", "io_schedule", "schedule_timeout", "io_schedule_timeout", "context_switch")
    return [frame for frame in case.frames if frame[1] and frame[0] not in scheduler]


def _with_offset(frame):
    name, sure, module = frame
    return f"{'' if sure else '? '}{name}+0x{len(name):x}/0x{16 * len(name):x}{f' [{module}]' if module else ''}"


def _stamped(lines):
    return "\n".join(f"[ 1320.{at:06}] {line}" for at, line in enumerate(lines))


FORMS = {
    form.__name__: form
    for form in (
        *(
            hung,
            sysrq,
            journalctl,
            dmesg_t,
            netconsole,
            mailed,
            with_caller,
            iso,
            proc,
            proc_loop,
            proc_grep,
            crash,
            drgn,
        ),
        *(arm, arm64, powerpc, s390, bare, decoded, inlined),
    )
} | LOGGED
