"""Whose I/O it is, in words: a load or an agent before its processes and threads, a program, or the kernel."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from wblab.analysis.runs.places import NEVER, PAGE
from wblab.analysis.runs.run import Run
from wblab.analysis.why.devicelimits import device_name
from wblab.analysis.why.flushed import NOBODY, UNKNOWN_OWNER, writer_to
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import SUBMITTER, SWAPPED, Party, device_text
from wblab.core.loads import Load
from wblab.core.spec import Spec
from wblab.core.units import Bytes

BTRFS = "btrfs's workers"  # they also write files' data, and the trace does not show whose
JOURNAL, METADATA, FLUSHER = "the journal", "the filesystem", "the flusher (program unknown)"
DEVICE_ITSELF = "programs that write to the device itself"
READ = "read by "  # prefix of the names of readers
SWAPPED_MEMORY = "swapped memory"
MEMORY = f"'s {SWAPPED_MEMORY}"  # suffix of those whose memory is written to swap
JOURNALS = ("jbd2/", "xfsaild/", "xfs-cil/", "xfs-log/")
_FLUSHERS = "kworker/"
_NEARLY_ALL = 0.95  # of a load's I/O: then its program is named too
_DATA_TOO = "data=journal"
_OFTEN = 0.25  # as often as a reader waits for what it asked for, another one does: then they read in step
# Who is named as a cause together: until these are so much of it, if each is so much of the first.
_MOST, _COMPARABLE = 2 / 3, {"program": 1 / 2, "reader": 1 / 4}  # a reader's time is that of some whole reads
MOST_NAMED = 3  # if these are not enough, all that are comparable are named, as a group
_AND = " and "
_FOLIO_WAITS = frozenset(("folio_wait_bit_common", "wait_on_page_bit_common", "folio_put_wait_locked"))


@dataclass(frozen=True)
class Parties:
    """The parties of a run. programs: of the tasks of a load or agent that made nearly all its I/O, by its name.

    readers: of those that read a file in step with others, so that each waits for what another one asked for, all.
    """

    recorded: Recorded
    programs: Mapping[str, str]
    readers: Mapping[str, str] = field(default_factory=dict)

    def named(self, sizes: Mapping[Party, Bytes]) -> dict[str, Bytes]:
        """Return sizes by the name of the party that dirtied them or, if none did, that submitted them."""
        found: Counter[str] = Counter()
        for party, size in sizes.items():
            found[self.of(party)] += size
        return {name: Bytes(size) for name, size in found.most_common()}

    def of(self, party: Party) -> str:
        """Return the name of a party."""
        tasks = self.recorded.tasks
        is_kernel = tasks.is_kernel(party.submitter)
        by = tasks.names.get(party.submitter, "") if is_kernel else ""
        if party.is_read:
            by = METADATA if is_kernel else self.owner(party.submitter)
            return READ + self.readers.get(by, by)
        if party.owner >= 0 and party.owner & SWAPPED:
            return f"{self.owner(party.owner & ~SWAPPED)}{MEMORY}"
        if party.owner == SUBMITTER and not is_kernel:
            return self.owner(party.submitter)
        if party.owner == UNKNOWN_OWNER and not by.startswith(JOURNALS):
            return FLUSHER if by.startswith(_FLUSHERS) else self.owner(party.submitter)
        if party.owner in (NOBODY, SUBMITTER, UNKNOWN_OWNER):
            return JOURNAL if by.startswith(JOURNALS) else METADATA
        return self.owner(party.owner)

    def renamed(self, run: Run, device: int, rank: int, *, is_released: bool = False) -> dict[str, str]:
        """Return other names of parties of a device at a place in the trace.

        With data=journal, the journal is named with the party that dirtied most of what is dirty then. What btrfs's
        workers write may be metadata or files' data: it is named as theirs.
        What a rate limit released belongs to the only program that wrote to the device, if one did.
        """
        if is_released:
            recorded = self.recorded
            trace, sequence, tasks, bdi = recorded.trace, recorded.sequence, recorded.tasks, device_text(device)
            writer = recorded.once(("writer", device), lambda: writer_to(trace, sequence, tasks, bdi))
            return {} if writer == UNKNOWN_OWNER else {FLUSHER: self.owner(writer)}
        name = device_name(run, device)
        if not isinstance(run.spec, Spec) or not name:
            return {}
        if (writers := _to_device(run.spec, name)) is not None:
            return dict.fromkeys((METADATA, FLUSHER), writers[0] if len(writers) == 1 else DEVICE_ITSELF)
        if run.spec.disk[name].filesystem == "btrfs":
            return {METADATA: BTRFS}
        if _DATA_TOO not in ",".join(run.spec.disk[name].mount_options).split(","):
            return {}
        found: Counter[str] = Counter()
        for key, size in self.recorded.dirtied.at(rank, device)[0].items():
            found[self.owner(key)] += size
        whose, most = found.most_common(1)[0] if found else ("", 0)
        return {JOURNAL: f"{JOURNAL} (data of {whose})"} if 2 * most > found.total() else {}

    def owner(self, key: int) -> str:
        """Return the name that a task's I/O counts for: that of its load or agent, or its own."""
        tasks = self.recorded.tasks
        whole = tasks.whole(key)
        return self.programs.get(whole, whole) if tasks.load_of(key) or tasks.agent_of(key) else whole


def _to_device(spec: Spec, name: str) -> list[str] | None:
    """Return the loads that write to a device by the page cache; None if it has another use, or a disk is on it."""
    if spec.disk[name].filesystem != "none" or any(name in disk.on for disk in spec.disk.values()):
        return None
    return [load for load, each in spec.load.items() if each.raw and spec.disk_of(load) == name and _writes(each)]


def _writes(load: Load) -> bool:
    return getattr(load, "through", "") == "cache" and getattr(load, "op", "write") == "write"


def together(shares: Mapping[str, float], whole: float = 0) -> tuple[str, ...]:
    """Return who is named as the cause together, of parties by what each did: the first, and others that did as much.

    Only programs are, or programs that read: others write on behalf of these. If it takes many, all who did as much
    are. whole: what all did; by default, the sum of the shares.
    """
    whole, ordered = whole or sum(shares.values()), sorted(shares, key=lambda name: -shares[name])
    first = ordered[:1]
    comparable = [
        name
        for name in ordered[1:]
        if (sort := _sort(first[0])) and _sort(name) == sort and shares[name] >= _COMPARABLE[sort] * shares[first[0]]
    ]
    found = list(first)
    for name in comparable:
        if sum(shares[each] for each in found) < _MOST * whole:
            found.append(name)
    return tuple(found if len(found) <= MOST_NAMED else first + comparable)


def joined(names: Iterable[str]) -> str:
    """Return several parties as one, all of them readers or none; see `each_of`."""
    parties = list(names)
    by = READ if parties and all(name.startswith(READ) for name in parties) else ""
    return by + _AND.join(sorted({each for name in parties for each in each_of(name)}))


def each_of(party: str) -> list[str]:
    """Return the names that a party consists of, without the prefix of readers; empty if it is nobody."""
    return list(filter(None, party.removeprefix(READ).split(_AND)))


def whole_of(party: str) -> str:
    """Return a party, or for memory that is written to swap all of that: the kernel writes it, whoever owns it."""
    return SWAPPED_MEMORY if party.endswith(MEMORY) else party


def is_of_load(load: str, party: str) -> bool:
    """Whether a party is a load, or a task of it."""
    name = party.removeprefix(READ)
    return name == load or name.startswith(f"{load}'s ")


def _sort(name: str) -> str:
    """Return whether a party is a program or one that reads; empty for others."""
    is_read, bare = name.startswith(READ), name.removeprefix(READ)
    is_program = bool(bare) and not bare.startswith((JOURNAL, METADATA, FLUSHER, BTRFS))
    return ("reader" if is_read else "program") if is_program else ""


def read_parties(recorded: Recorded) -> Parties:
    """Read the parties of a run from all its I/O."""
    tasks, moved, dirtied = recorded.tasks, recorded.moved, recorded.dirtied
    direct, owned = moved.owner == SUBMITTER, (moved.owner >= 0) & (moved.owner < SWAPPED)
    whose = np.concatenate([moved.submitter[direct], dirtied.pid, moved.owner[owned]])
    sizes = np.concatenate([moved.size[direct], np.full(len(dirtied.pid), PAGE), moved.size[owned]])
    keys, places = np.unique(whose, return_inverse=True)
    by: dict[str, Counter[str]] = {}
    names: dict[tuple[str, str], str] = {}
    for key, size in zip(keys.tolist(), np.bincount(places, sizes).tolist(), strict=True):
        if tasks.load_of(key) or tasks.agent_of(key):
            by.setdefault(tasks.whole(key), Counter())[tasks.names.get(key, "")] += int(size)
            names[tasks.whole(key), tasks.names.get(key, "")] = tasks.owner(key)
    programs = {}
    for whole, programs_of in by.items():
        program, most = programs_of.most_common(1)[0]
        if most > _NEARLY_ALL * programs_of.total():
            programs[whole] = names[whole, program]
    alone = Parties(recorded, programs)
    return replace(alone, readers=_in_step(recorded, alone))


def _in_step(recorded: Recorded, parties: Parties) -> dict[str, str]:
    """Return those that read most of their data in step with others, each with the names of all.

    One asks for a page, the others wait for it, and the next one may be asked for by another: without one of them, the
    disk reads as much.
    """
    done, moved, spans, tasks = recorded.done, recorded.moved, recorded.offcpu, recorded.tasks
    reads = np.flatnonzero((moved.is_read > 0) & (moved.inode > 0) & (moved.done_rank != NEVER))
    chosen = [at for at, stack in enumerate(recorded.stacks.known) if not _FOLIO_WAITS.isdisjoint(stack)]
    rows = np.flatnonzero(np.isin(spans.stack, chosen) & (spans.wake_rank >= 0)) if chosen else np.zeros(0, np.int64)
    if not len(reads) or not len(rows):
        return {}
    asked: dict[int, set[str]] = {}  # by each request's place in the trace
    for rank, submitter in set(zip(moved.done_rank[reads].tolist(), moved.submitter[reads].tolist(), strict=True)):
        asked.setdefault(rank, set()).add(parties.owner(submitter))
    waits: Counter[tuple[str, str]] = Counter()
    for row in rows.tolist():
        rank = int(spans.wake_rank[row])
        request = done.before(rank, recorded.cpu(rank))
        waiter = parties.owner(tasks.lives.key(int(spans.pid[row]), rank))
        for reader in asked.get(int(done.rank[request]), ()) if request >= 0 else ():
            waits[reader, waiter] += 1
    joint = [
        (reader, waiter)
        for (reader, waiter), count in waits.items()
        if waiter != reader and count > _OFTEN * waits[reader, reader]
    ]
    groups: dict[str, set[str]] = {}
    for one, other in joint:
        both = groups.get(one, {one}) | groups.get(other, {other})
        groups |= dict.fromkeys(both, both)
    return {name: joined(both) for name, both in groups.items()}
