"""What stacks of tasks say, as a report: who waits for what, what state that is, and what to do next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wblab.analysis.why.onestack import UNKNOWN
from wblab.analysis.why.sleeps import SCHEDULER
from wblab.foreign.judge import Judged, judged
from wblab.foreign.stacks import Stacks
from wblab.foreign.state import QUEUE_KINDS, Told, is_held_up, told
from wblab.report.quantities import enumerated
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

RECORD = "sudo wblab live --dir DIR --capture-pauses 300ms"
_MOST_ROWS = 12  # in a terminal
_MOST_LINKS = 4  # of a chain that are named
_MOST_NAMES = 3
_MOST_GROUPS = 2000  # in a page and as JSON
_NAMELESS = "a task without a name"
_NO_NAMES = (_NAMELESS, "a flusher", "the flusher of ", "the journal's thread ")  # a task's own name stays as it is
_CRYPT = "kcryptd"  # the work queue of dm-crypt
_ARROW = " < "  # is called by
_COLUMNS = 74  # of a line of functions


@dataclass(frozen=True)
class Alike:
    """Tasks of one name with equal stacks. tasks: how many different ones; seen: how often the text has the stack."""

    first: Judged
    tasks: int
    seen: int
    waited_s: int


def stack_report(name: str, found: Stacks) -> Report:
    """Return the report on the stacks of a text. name: of its file."""
    every = [judged(task) for task in found.tasks]
    groups = _alike(every)
    state = told(every)
    data = {"file": name, "kind": "stacks", "release": found.release, "is_cut": found.is_cut, **_data(state, groups)}
    blocks = (*_known(state), _table(groups), *_next(state), _silent(every, found))
    evidence = Section("The stacks", tuple(_evidence(groups)), "folded", anchor="stacks")
    about = (_about(name, every, found), "")
    return Report(f"{name}: who waits for what?", _headline(every, state), (*blocks, evidence), data=data, about=about)


def evidence_report(name: str, found: Stacks) -> Report:
    """Return all stacks, each kind of them once, with what each says."""
    every = [judged(task) for task in found.tasks]
    return Report(name, "", tuple(_evidence(_alike(every))), about=(_about(name, every, found),))


def _about(name: str, every: Sequence[Judged], found: Stacks) -> str:
    tasks = len({(item.task.comm, item.task.pid) for item in every})
    stacks = _count(len(every), "stack")
    release = f", Linux {found.release}" if found.release else ""
    cut = "; the rest of the text was not read" if found.is_cut else ""
    of = f" of {_count(tasks, 'task')}" if tasks != len(every) else ""
    return f"{name}: {stacks}{of}{release}{cut}"


def _headline(every: Sequence[Judged], state: Told) -> str:
    waiting = [item for item in every if is_held_up(item)]
    if not waiting:
        return _nobody(every)
    if not state.links:
        words = Counter(item.wait.what for item in waiting).most_common(1)[0][0]
        alike = [item for item in waiting if item.wait.what == words]
        others = len({_identity(item) for item in waiting} - {_identity(item) for item in alike})
        return f"{_who(alike)} {_verb(alike)} {words}.{_more(others)} {_capital(state.state.what)}."
    first = state.links[0]
    alike = [item for item in waiting if item.wait.kind == first.wait.kind and item.role == first.role]
    said = [f"{_who(alike)} {_verb(alike)}{_called(alike)} {_what(first)}"]
    said += [f"{_party(item)} waits {_what(item)}" for item in state.links[1:_MOST_LINKS]]
    others = len({_identity(item) for item in waiting}) - len({_identity(item) for item in (*alike, *state.links)})
    return f"{'; '.join(said)}.{_more(others)} {_capital(state.state.what)}."


def _more(others: int) -> str:
    return f" {_count(others, 'other task')} {'waits' if others == 1 else 'wait'} too." if others > 0 else ""


def _nobody(every: Sequence[Judged]) -> str:
    natures = Counter(item.wait.nature for item in every)
    if natures["runs"] == len(every):
        return "No task of these waits: all were running when their stacks were taken."
    held = next((item for item in every if item.wait.nature == "stopped"), None)
    if held is None:
        return (
            "No task of these is held up: they run, wait for other programs, sleep by their own will or have no work."
        )
    return f"{_who([item for item in every if item.wait.nature == 'stopped'])} {_verb([held])} {held.wait.what}."


def _what(item: Judged) -> str:
    sure = "" if item.wait.is_sure else " (its stack is not sure)"
    return item.wait.what + (f" ({item.disk})" if item.disk and item.wait.kind in QUEUE_KINDS else "") + sure


def _party(item: Judged) -> str:
    if item.role == "journal":
        return f"the journal's thread ({item.disk or item.task.comm})"
    if item.role == "flusher":
        return f"the flusher of {item.disk}" if item.disk else "a flusher"
    if item.role == "disk" and item.disk.startswith("loop"):
        return f"the worker of the loop device {item.disk}"
    if item.role == "disk" and _CRYPT in (item.task.comm[: len(_CRYPT)], item.task.workqueue[: len(_CRYPT)]):
        return "dm-crypt's worker"
    if item.task.comm.startswith("dmcrypt_write"):
        return "dm-crypt's thread that writes"
    return item.task.comm or _NAMELESS


def _who(items: Sequence[Judged]) -> str:
    """Return whom some tasks are, the most frequent names first."""
    names = Counter({_identity(item): _party(item) for item in items}.values())
    shown = [
        (f"{count} tasks without names" if name == _NAMELESS else f"{name} ({count} tasks)") if count > 1 else name
        for name, count in names.most_common(_MOST_NAMES)
    ]
    rest = sum(names.values()) - sum(count for _, count in names.most_common(_MOST_NAMES))
    said = enumerated([*shown, *([f"{rest} more"] if rest else [])])
    return _capital(said) if said.startswith(_NO_NAMES) else said


def _verb(items: Sequence[Judged]) -> str:
    return "waits" if len({_identity(item) for item in items}) == 1 else "wait"


def _called(items: Sequence[Judged]) -> str:
    calls = Counter(f"{item.call}()" if " " not in item.call else item.call for item in items if item.call)
    named = [name for name, _ in calls.most_common(_MOST_NAMES)]
    return f" in {enumerated(named)}" if named else ""


def _identity(item: Judged) -> tuple[str, int, int]:
    """Return what tells a task from others: where it has no pid, each stack is another task's."""
    return item.task.comm, item.task.pid, item.task.line if item.task.pid < 0 else 0


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _alike(every: Iterable[Judged]) -> list[Alike]:
    groups: dict[tuple[str, tuple[str, ...], str], list[Judged]] = {}
    for item in every:
        stack = tuple(frame.name for frame in item.task.frames if frame.sure or not item.wait.is_sure)
        groups.setdefault((item.task.comm, stack, item.wait.kind), []).append(item)
    made = [
        Alike(items[0], len({_identity(each) for each in items}), len(items), max(each.task.waited_s for each in items))
        for items in groups.values()
    ]
    order = {"waits": 0, "stopped": 1, "runs": 2, "own will": 3, "idle": 4}

    def rank(group: Alike) -> tuple[bool, int, int, int]:
        return not is_held_up(group.first), order[group.first.wait.nature], -group.tasks, -group.seen

    return sorted(made, key=rank)


def _table(groups: Sequence[Alike]) -> Table:
    shown = [group for group in groups if group.first.wait.nature != "idle"] or list(groups)
    rows = [
        Row(
            (
                (group.first.task.comm or "no name") + (f" ×{group.tasks}" if group.tasks > 1 else ""),
                group.first.call,
                f"{group.waited_s} s" if group.waited_s else "",
                _what(group.first),
            )
        )
        for group in shown[:_MOST_GROUPS]
    ]
    since = [Column("over", "number")] if any(group.waited_s for group in shown) else []
    if not since:
        rows = [Row((*row.cells[:2], row.cells[3])) for row in rows]
    columns = (Column("task"), Column("in"), *since, Column("waits", "prose"))
    return Table(columns, tuple(rows), most=_MOST_ROWS, has_page=True)


def _known(told_: Told) -> list[Block]:
    """Return what the lab has on a state."""
    state = told_.state
    found: list[Block] = [state.measured] if state.measured else []
    if state.presets:
        found += ["The lab shows this state in:", Lines(state.presets)]
    elif state.name not in {"unknown", "served", "frozen", "locks"}:
        found.append("No preset of the lab shows this state.")
    if state.presets and not state.measured:
        found.append("No study of the lab has measured what ends it.")
    return [Section("", tuple(found), close=True)] if found else []


def _next(told_: Told) -> list[Block]:
    if told_.state.name in {"served", "frozen"}:
        return []
    head = "To learn who did it and for how long, record the next one on that machine:"
    return [_apart(head, Lines((RECORD,)))]


def _silent(every: Sequence[Judged], found: Stacks) -> Section:
    """Return what the text does not say."""
    waiting = [item for item in every if is_held_up(item)]
    points = ["whose data fill memory or the disk's queue, and which file and block are waited for"]
    longest = max((item.task.waited_s for item in waiting), default=0)
    points.append(
        f"how long each wait was: the longest had lasted {longest} s, and was not over"
        if longest
        else "how long each wait was"
    )
    if any(item.wait.kind in {"lock", "file lock"} and not item.task.owner for item in waiting):
        points.append("who holds the locks")
    if any(item.wait.kind == UNKNOWN for item in waiting):
        points.append(
            f"what {_count(sum(item.wait.kind == UNKNOWN for item in waiting), 'stack')} of unknown kind wait for"
        )
    if not found.release:
        points.append("which kernel it is of")
    if waiting and not any(item.role == "flusher" for item in every):
        points.append("what the flushers do, of which it has no stack")
    return _apart("What this text cannot tell:", Points(tuple(points)))


def _apart(*blocks: Block) -> Section:
    """Return blocks that stand close together, with an empty line above them."""
    return Section("", (Section("", blocks, close=True),))


def _evidence(groups: Sequence[Alike]) -> list[Block]:
    found: list[Block] = []
    for group in groups[:_MOST_GROUPS]:
        item = group.first
        who = (item.task.comm or "a task without a name") + (f" ({item.task.pid})" if item.task.pid >= 0 else "")
        times = f", {group.tasks} tasks" if group.tasks > 1 else f", seen {group.seen} times" if group.seen > 1 else ""
        kind = item.wait.kind or item.wait.nature
        by = f", by {item.wait.where}()" if item.wait.where else ""
        lines = _wrapped([("" if frame.sure else "? ") + frame.name for frame in item.task.frames])
        found.append(
            Section(f"{who}, line {item.task.line}{times}: {kind}{by}", (Lines(tuple(lines)),), "terminal", close=True)
        )
    return found


def _wrapped(names: Sequence[str]) -> list[str]:
    lines = [""]
    for name in names:
        joined = lines[-1] + (_ARROW if lines[-1] else "") + name
        if len(joined) > _COLUMNS and lines[-1]:
            lines[-1] += _ARROW.rstrip()
            lines.append(name)
        else:
            lines[-1] = joined
    return lines


def _data(state: Told, groups: Sequence[Alike]) -> dict[str, Any]:
    return {
        "state": state.state.name,
        "what": state.state.what,
        "presets": list(state.state.presets),
        "chain": [_row(Alike(item, 1, 1, item.task.waited_s)) for item in state.links],
        "tasks": [_row(group) for group in groups[:_MOST_GROUPS]],
    }


def _row(group: Alike) -> dict[str, Any]:
    item = group.first
    return {
        "comm": item.task.comm,
        "pid": item.task.pid if item.task.pid >= 0 else None,
        "tasks": group.tasks,
        "seen": group.seen,
        "state": item.task.state,
        "waited_s": group.waited_s,
        "kind": item.wait.kind,
        "nature": item.wait.nature,
        "what": item.wait.what,
        "function": item.wait.where,
        "is_sure": item.wait.is_sure,
        "call": item.call,
        "filesystem": item.filesystem,
        "role": item.role,
        "disk": item.disk,
        "stack": [frame.name for frame in item.task.frames if frame.name not in SCHEDULER],
    }
