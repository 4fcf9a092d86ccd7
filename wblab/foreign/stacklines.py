"""The lines of texts with stacks: what stands before the kernel's words, what heads a task, and what is a frame.

The forms are those of kernel/sched/core.c, kernel/hung_task.c, fs/proc/base.c and each architecture's traps.c, from
Linux 3.0 on, and of crash, drgn and gdb. Each is bounded, so that no line takes long, whatever it holds.
"""

import re
from dataclasses import dataclass, replace

MOST_LETTERS = 512  # of a line; the longest line with a frame that the kernel prints has 200
_MOST_PREFIXES = 8


@dataclass(frozen=True)
class Frame:
    """A function of a stack. sure: not marked by the kernel as perhaps left over on the stack ("? "). module: or "".

    is_inlined: into the next one, as debug information says: nothing says that it calls what sleeps.
    """

    name: str
    sure: bool = True
    module: str = ""
    is_inlined: bool = False


# What stands before the kernel's own words, each at the begin of what is left of a line.
_HOUR = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_PREFIXES = re.compile(
    "|".join(
        (
            r"(?:[>|][ \t]?){1,8}",  # quoted in a mail
            r"<\d{1,3}>",  # the level, as syslog(2) has it
            r"\d{1,4},\d{1,12},\d{1,20},[-c][^;]{0,64};",  # /dev/kmsg, netconsole
            r"\[ {0,12}\+?\d{1,10}\.\d{1,9}(?: <[ \d]{1,12}\.\d{1,9}>)?\]",  # seconds since boot, also dmesg -d
            r"\[[A-Z][a-z]{2}[ \d]\d \d\d:\d\d\]",  # dmesg -e
            r"[a-z]\w{2,7} {0,6}:(?:emerg|alert|crit|err|warn|notice|info|debug) {0,3}:",  # dmesg -x
            r"\d{9,11}\.\d{3,6} \S{1,64} kernel(?:\[[-\d]{1,8}\])?:",  # journalctl -o short-unix
            r"\[ {0,8}[TC]\d{1,8}\]",  # CONFIG_PRINTK_CALLER
            r"\(\d{1,3}\)\[\d{1,8}:[^\]]{1,32}\]|\[\d{1,3}: {0,16}[^\]:]{1,24}: {0,8}\d{1,8}\]",  # makers of phones
            r"MESSAGE=",  # journalctl -o export
            r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \d{4}\]",  # dmesg -T
            rf"[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} (?:\d{{4}} )?{_HOUR} \S{{1,64}} (?:kernel|unknown)(?:\[\d{{1,8}}\])?:",
            rf"\[?(?:[A-Z][a-z]{{2}} )?\d{{4}}-\d\d-\d\d[T ]{_HOUR}(?:Z|[+-]\d\d:?\d\d| [A-Z]{{2,5}}(?= ))?\]?"
            r"(?: \S{1,64} kernel(?:\[[-\d]{1,8}\])?:)?",
            r"(?:[\w.-]{1,64} )?kernel(?:\[\d{1,8}\])?:",
        )
    )
)
# Whatever a collector of logs, grep or a container put before the kernel's own time, or before its name.
_FAR = re.compile(r".{0,200}?(?:\[ {0,12}\d{1,10}\.\d{6}\]|\bkernel(?:\[[-\d]{1,8}\])? {0,4}:(?= ))")

_COMM = r"(?P<comm>\S.{0,63}?)"
BLOCKED = re.compile(
    rf"INFO: task {_COMM}:(?P<pid>\d{{1,8}})(?:\(T\d+\))? (?:<\w+> )?blocked (?:in I/O wait )?for more than "
    r"(?P<seconds>\d{1,9}) seconds"
)
OWNED = re.compile(
    rf"INFO: task {_COMM}:(?P<pid>\d{{1,8}})(?:\(T\d+\))? (?:<\w+> )?(?:is )?blocked on an? [\w-]{{1,20}},? likely "
    r"owned by task (?P<owner>\S.{0,63}?):(?P<owner_pid>\d{1,8})\b"
)
STATE = re.compile(  # since 5.10
    rf"task:{_COMM}\s+state:(?P<state>[A-Za-z])[ \w()]{{0,30}}? stack:\s*\d+\s+pid:\s*(?P<pid>\d{{1,8}})\b"
)
STATE_BEFORE = re.compile(  # the address went with 4.11
    r"(?P<comm>\S.{0,15}?)\s+(?P<state>[A-Zt])\s+(?:(?:[0-9a-f]{16}|[0-9a-f]{8})\s+|running task\s+)?\d{1,8}\s+"
    r"(?P<pid>\d{1,8})\s+\d{1,8}(?:\s+0x[0-9a-f]{1,16})?\s*$"
)
CRASH = re.compile(
    r'PID:\s*(?P<pid>\d{1,8})\s+TASK:\s*[0-9a-f]{8,16}\s+CPU:\s*\d{1,5}\s+COMMAND:\s*"(?P<comm>[^"]{0,63})"'
)
ON_CPU = re.compile(r"CPU: \d{1,5} (?:UID: \d{1,10} )?PID: (?P<pid>\d{1,8}) Comm: (?P<comm>\S.{0,31}?)(?:\s|$)")
WORKQUEUE = re.compile(r"Workqueue: (?P<queue>\S{1,64}) [\w.]{1,64}(?: \((?P<what>[^)\s]{1,64})\))?")
CALL_TRACE = re.compile(r"(?:Call [Tt]race|Backtrace|Stack traceback)\b")
RELEASE = re.compile(
    r"(?:Not tainted|Tainted:[ A-Z\[\]()=,_-]{0,80}|Linux version|Comm: \S{1,16} Not tainted|^RELEASE:)\s+"
    r"(?P<release>\d{1,2}\.\d{1,3}[.\w+~-]{0,60})"
)
NO_TASK = re.compile(r"Showing all locks held|Kernel panic|\bNMI backtrace for cpu|(?:sysrq: )?SysRq ?:|sysrq: ")
SHOW_STATE = re.compile(r"[Ss]ys[Rr]q ?: (?:SysRq : )?Show|Show Blocked State")
# Stacks of what once happened, not of tasks that wait: lockdep, KASAN, kmemleak, page_owner.
PAST = re.compile(
    r"-> #\d{1,4} \(|(?:Allocated|Freed) by task \d|stack backtrace:|Last potentially related work creation|"
    r"Second to last potentially|(?:Allocated|Freed):$|backtrace(?: \(|:)|Uninit was |page last (?:allocated|free)\b"
)
USER_THREAD = re.compile(
    r"Thread \d{1,8} \((?:Thread 0x[0-9a-f]{1,16} \(LWP|LWP|process) "
)  # gdb and pstack, of a program
_LOCKDEP = re.compile(r"#\d+:\s")

# A frame as the kernel prints it, as arm prints it, of crash, drgn and gdb, and without offsets.
_NAME = r"(?P<name>[A-Za-z_.$][\w.$]{0,127})"
_OFFSET = r"\+(?:0x[0-9a-f]{1,16}|\d{1,9})(?:/(?:0x[0-9a-f]{1,16}|\d{1,9}))?"
_MODULE = r"(?:\s{1,3}\[(?P<module>[\w-]{1,64})[^\]]{0,80}\])?"
_ADDRESSES = r"(?:\(?\[<?[0-9a-fA-F]{1,16}>?\]\s{0,4}){0,2}"
_FRAME = re.compile(rf"{_ADDRESSES}(?P<mark>\? ?)?{_NAME}{_OFFSET}\)?{_MODULE}(?P<unsure>\s?\(unreliable\))?")
_ARM = re.compile(rf"(?:\[<[0-9a-f]{{1,16}}>\]\s*)?\(?(?P<mark>\? ?)?{_NAME}(?:{_OFFSET})?\)?{_MODULE} from [\[\w(]")
_DEBUGGER = re.compile(rf"#\d{{1,3}}\s+(?:\[[0-9a-f]{{8,16}}\] |0x[0-9a-f]{{1,16}} in )?{_NAME}(?P<after>.{{0,160}})")
_DECODED = re.compile(rf"(?P<mark>\? ?)?{_NAME} \([\w./+-]{{1,200}}\.(?:[chS]|rs):\d{{1,7}}")  # decode_stacktrace.sh
_INLINED = re.compile(rf"{_NAME} [\w./+-]{{1,200}}\.(?:[chS]|rs):\d{{1,7}} \[inline\]")  # syzkaller's reports
_BARE = re.compile(rf"{_ADDRESSES}(?P<mark>\? ?)?{_NAME}(?:\(\))?{_MODULE}\s*$")
OFFSETS = re.compile(r"\+0x[0-9a-f]+/0x")
_BRACKETED = re.compile(r"\[<[0-9a-f]{1,16}>\]")
_END_OF_PROC = re.compile(r"\[<(?:0|f{8,16})>\] 0xf{8,16}")
_SUFFIX = re.compile(r"\.(?:isra|constprop|part|cold|llvm|lto_priv|clone|ipa|localalias)\b.*")

# What people put before what they read in /proc.
_PROC_FILE = r"/proc/(?:\d{1,8}/task/)?(?P<pid>\d{1,8})/"
PROC_STACK = re.compile(
    rf"(?:={{2,}}> )?(?:[^:]{{0,80}}[#$%] ?)?(?:sudo )?(?:cat )?{_PROC_FILE}stack:?(?: <={{2,}})?\s*"
)
PROC_COMM = re.compile(rf"(?:={{2,}}> )?(?:[^:]{{0,80}}[#$%] ?)?(?:sudo )?(?:cat )?{_PROC_FILE}comm:?(?: <={{2,}})?\s*")
GREPPED = re.compile(rf"{_PROC_FILE}stack:(?=\[|[A-Za-z_])")
GREPPED_COMM = re.compile(rf"{_PROC_FILE}comm:(?P<comm>\S.{{0,30}})")
_HEADINGS = (
    re.compile(
        r"[-=#*\s]{0,12}(?:pid|PID|Pid|task|TASK|tid|TID)[ :=]{1,3}(?P<pid>\d{1,8})\b[)\]:,;]?(?P<rest>.{0,80})"
    ),
    re.compile(r"[-=#*\s]{0,12}(?P<pid>\d{1,8})[)\]:,;]{0,2}(?P<rest>\s.{0,80})?$"),
    re.compile(
        r"[-=#*\s]{0,12}(?:comm[:=] ?)?(?P<comm>[\w./:+@(-][\w./:+@)-]{0,31}) ?[(\[: -](?:pid[ =:]?)?"
        r"(?P<pid>\d{1,8})[)\]]?:?$"
    ),
)
_COMM_OF_REST = re.compile(
    r"[\s(\[\"',;:]{0,6}(?:(?:comm|COMM|name|Name|cmd)[:= ]{1,3})?[\"(]?(?P<comm>[^\s\"()\[\],;]{1,31})"
)
ALONE = re.compile(r"(?!\d+$)[\w./:+@-]{1,31}$")
_STATES = frozenset(["D", "S", "R", "T", "Z", "I", "X", "t", "Ds", "Ss", "Dl", "D+", "Dsl", "Dl+"])
_IN_BRACKETS = re.compile(r"\[([\w-]{1,64})\]")


def unprefixed(line: str) -> str:
    """Return what the kernel printed of a line of a log, without what dmesg, journalctl or a mail put before it."""
    left = line.strip()
    if ("]" in left or "kernel" in left) and (far := _FAR.match(left)):
        left = left[far.end() :].lstrip()
    for _ in range(_MOST_PREFIXES):
        found = _PREFIXES.match(left)
        if not found or not found.end():
            break
        left = left[found.end() :].lstrip()
    return left


def frame_on(line: str, *, is_open: bool, may_be_bare: bool) -> Frame | None:
    """Return the frame on a line without prefixes; None if it has none.

    is_open: a stack is being read. may_be_bare: its functions may stand alone, without offsets.
    """
    if _END_OF_PROC.match(line) or _LOCKDEP.match(line):
        return None
    if found := _FRAME.match(line) or _ARM.match(line):
        groups = found.groupdict()
        return _made(found["name"], not (found["mark"] or groups.get("unsure")), found["module"])
    if found := _DEBUGGER.match(line):
        module = _IN_BRACKETS.search(found["after"])
        is_frame = any(sign in found["after"] for sign in (" at ", "(", "+")) and " from /" not in found["after"]
        return _made(found["name"], True, module and module[1]) if is_frame else None
    return _without_offset(line, may_be_bare=may_be_bare) if is_open else None


def _without_offset(line: str, *, may_be_bare: bool) -> Frame | None:
    """Return the frame on a line of a stack that is being read, where it has a source's line or nothing behind it."""
    if found := _INLINED.match(line) or _DECODED.match(line):
        made = _made(found["name"], not found.groupdict().get("mark"), None)
        return replace(made, is_inlined=found.re is _INLINED)
    is_bracketed = bool(_BRACKETED.match(line))
    found = _BARE.match(line) if may_be_bare or is_bracketed else None
    if found and (is_bracketed or "_" in found["name"] or found["name"].islower()) and not found["name"].isupper():
        return _made(found["name"], not found["mark"], found["module"])
    return None


def heading_of(line: str) -> tuple[str, int, str]:
    """Return comm, pid and state of a line above a stack that stands alone; empty and -1 for what it does not have."""
    for form in _HEADINGS:
        if found := form.match(line):
            groups = found.groupdict()
            rest = (groups.get("rest") or "").replace("(", " ").replace(")", " ").split()
            state = next((word[0] for word in rest if word in _STATES), "")
            return groups.get("comm") or _named(rest), int(found["pid"]), state
    return (line if ALONE.fullmatch(line) else ""), -1, ""


def _made(name: str, sure: bool, module: str | None) -> Frame:
    return Frame(_SUFFIX.sub("", name).lstrip("."), sure, module or "")


def _named(words: list[str]) -> str:
    """Return the name of a task in what follows its pid."""
    left = " ".join(word for word in words if word not in _STATES and word.strip("-="))
    found = _COMM_OF_REST.match(left)
    return found["comm"] if found else ""
