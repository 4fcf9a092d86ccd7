"""The measures that the daemon starts on each disk, and its reaction to failures, with invented disks."""

from dataclasses import dataclass, field

import pytest

from wblab.core.errors import WblabError
from wblab.live.changes import permitted
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import MITIGATE
from wblab.live.mitigate.accounting import Usage
from wblab.live.mitigate.configuration import Config
from wblab.live.mitigate.daemon import Daemon, Means
from wblab.live.mitigate.settings import ShortQueue

MIB = 1 << 20


@dataclass
class Disks:
    """Two disks with known rates; sda is the main one."""

    name: str = "sda"
    flush_s: float = 0.0
    cached: set[str] = field(default_factory=set)
    bandwidths: dict[str, float] = field(default_factory=lambda: {"sda": 1.0 * MIB, "sdb": 2.0 * MIB})

    @property
    def bandwidth(self):
        return self.bandwidths[self.name]


@dataclass
class Measure:
    name: str
    lasting: bool = False
    shared: bool = False
    impossible: str = ""
    started: list = field(default_factory=list)

    def check(self, disk):
        pass

    def start(self, disk, bandwidth):
        if self.impossible:
            raise PermissionError(self.impossible)
        self.started.append((disk, bandwidth))

    def hold(self, pid):
        return 0


class Accounting:
    lost = 0

    def note_exits(self):
        pass

    def sample(self, processes):
        return Usage(), []


@pytest.fixture
def disks():
    return Disks()


@pytest.fixture
def daemon(disks, tmp_path):
    """Return a function that makes a daemon with invented measures by policy, and a list of its output."""
    queue = tmp_path / "sda/queue"  # it takes 0.5 s to write
    queue.mkdir(parents=True)
    for name, value in (("nr_requests", "1"), ("max_sectors_kb", "512"), ("write_cache", "write back")):
        (queue / name).write_text(value)

    def make(journal=None, **policies):
        said = []
        ours = Daemon(
            Config(policy="policy", cached="cached" if "cached" in policies else "", learned=""),
            lambda event: said.append((event.action, event.text)),
            Accounting(),
            journal or Journal(tmp_path / "journal.json", MITIGATE),
            Means(tmp_path, lambda name, learned: disks, lambda names, *_: [policies[name] for name in names]),
        )
        return ours, said

    return make


def test_lasting_measures_start_per_disk_and_shared_ones_for_the_main_disk(daemon):
    for shared, started in ((False, [("sda", MIB), ("sdb", 2 * MIB)]), (True, [("sda", MIB)])):
        measure = Measure("queue", lasting=True, shared=shared)
        daemon(policy=measure)[0].period(2.0, 2.0)
        assert measure.started == started


def test_the_length_of_a_queue_that_is_set_is_said_in_bytes(daemon, disks, tmp_path, monkeypatch):
    monkeypatch.setattr(permitted, "DISKS", tmp_path)
    (tmp_path / "sda/queue/nr_requests").write_text("64")
    (tmp_path / "sda/queue/max_sectors_kb").write_text("4096")
    del disks.bandwidths["sdb"]
    journal = Journal(tmp_path / "journal.json", MITIGATE)
    ours, said = daemon(journal, policy=ShortQueue(journal, 0.125, lasting=True, blocks=tmp_path))
    for now_s in (2.0, 4.0):
        ours.period(now_s, 2.0)
    assert [text for _, text in said if "queue of sda" in text] == ["the queue of sda holds at most 512 KiB"]


def test_temporary_measures_wait_for_an_offender(daemon):
    measure = Measure("class")
    daemon(policy=measure)[0].period(2.0, 2.0)
    assert measure.started == []


def test_further_measures_start_when_flushes_show_a_cache(daemon, disks):
    measure = Measure("io.max", lasting=True)
    ours, said = daemon(policy=Measure("queue"), cached=measure)
    ours.period(2.0, 2.0)
    assert (measure.started, disks.cached) == ([], set())
    disks.flush_s = 8.0
    for now_s in (4.0, 6.0):
        ours.period(now_s, 2.0)
    assert disks.cached == {"sda"}
    assert ("sda", MIB) in measure.started
    told = [text for action, text in said if "its own write cache" in text]
    assert told == ["flushes of sda take 8.00 s, but its queue only 0.50 s: it has its own write cache"]


def test_an_impossible_further_measure_is_reported_once(daemon, disks):
    measure = Measure("io.max", impossible="read-only")

    def refuse(disk):
        raise WblabError("no cgroup v2 here")

    measure.check = refuse
    disks.cached.add("sda")
    ours, said = daemon(policy=Measure("queue"), cached=measure)
    for now_s in (2.0, 4.0):
        ours.period(now_s, 2.0)
    assert [text for action, text in said if action == "warn"] == ["cached cannot be applied to sda: no cgroup v2 here"]


def test_a_failing_requested_policy_ends_the_daemon(daemon):
    ours, _ = daemon(policy=Measure("queue", lasting=True, impossible="read-only"))
    with pytest.raises(WblabError, match="cannot be applied"):
        ours.period(2.0, 2.0)
