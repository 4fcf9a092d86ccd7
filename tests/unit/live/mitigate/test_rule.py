import math
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.lab.printable import printable
from wblab.live.mitigate.accounting import Usage
from wblab.live.mitigate.configuration import Config
from wblab.live.mitigate.rule import Learned, RuleLimits, RuleState, identity, judge, recall, remember, succeed

MIB = 1 << 20
PERIOD_S = 2.0
LIMITS = RuleLimits.of(Config())


class Machine:
    """Consecutive periods on a disk of 1 MiB/s. By default process 2 is the parent of 3, 4 and so on."""

    def __init__(self, parents=None):
        self.state = RuleState()
        self.now_s = 100.0
        self.parents = parents or {}

    def period(self, ended=None, waiting=frozenset(), **written_mib_s):
        """Run one period; p3=0.5 means that process 3 wrote 0.5 MiB/s."""
        written = {int(name[1:]): int(rate * MIB * PERIOD_S) for name, rate in written_mib_s.items()}
        self.now_s += PERIOD_S
        verdict = judge(
            self.state,
            Usage(written, ended or {}),
            self.parents.get,
            LIMITS,
            waiting=waiting,
            bandwidth=MIB,
            now_s=self.now_s,
            period_s=PERIOD_S,
        )
        self.state = verdict.state
        return verdict

    def until_held(self, periods=100, **written):
        """Return the number of periods until a process is limited, and the limited processes."""
        for count in range(1, periods + 1):
            if hold := set(self.period(**written).hold):
                return count, hold
        return periods, set()


def test_one_writer_above_the_share_is_limited():
    count, held = Machine().until_held(p3=0.9)
    assert held == {3}
    assert count == math.ceil(-LIMITS.smoothing_s * math.log(1 - 0.7 / 0.9) / PERIOD_S)


def test_a_flood_is_limited_at_once():
    assert Machine().until_held(p3=30) == (1, {3})


def test_one_writer_below_the_share_is_left_alone():
    assert Machine().until_held(p3=0.65) == (100, set())


def test_all_writers_that_share_the_disk_are_limited():
    machine = Machine()
    held = set()
    for _ in range(20):
        held |= set(machine.period(p3=0.33, p4=0.33, p5=0.33, p6=0.01).hold)
    assert held == {3, 4, 5}


def test_a_small_writer_beside_a_big_one_is_left_alone():
    machine = Machine()
    held = set()
    for _ in range(20):
        held |= set(machine.period(p3=0.8, p4=0.25).hold)
    assert held == {3}


def test_the_parent_of_an_offender_is_not_blamed():
    machine = Machine({3: 2, 2: 1})
    for _ in range(50):
        assert machine.period(p3=30).hold.keys() <= {3}


def test_many_small_children_make_their_parent_an_offender():
    machine = Machine(dict.fromkeys(range(3, 13), 2))
    _, held = machine.until_held(**{f"p{pid}": 0.1 for pid in range(3, 13)})
    assert held == {2}


def test_a_script_of_short_commands_is_found():
    machine = Machine()
    for pid in range(10, 30):
        if hold := machine.period(ended={pid: 2}, **{f"p{pid}": 0.95}).hold:
            break
    assert hold.keys() == {2}


def test_a_script_of_longer_commands_is_found():
    machine = Machine()
    held = set()
    for pid in range(10, 30):
        machine.parents = {pid: 2}
        for _ in range(3):
            held |= set(machine.period(**{f"p{pid}": 0.95}).hold)
        held |= set(machine.period(ended={pid: 2}).hold)
    assert 2 in held


def test_one_large_ended_child_does_not_make_its_parent_an_offender():
    machine = Machine()
    assert not machine.period(ended={3: 2}, p3=1000).hold
    machine = Machine({3: 2})
    machine.until_held(p3=1000)
    assert not machine.period(ended={3: 2}, p3=1000).hold
    assert not machine.period().hold


def test_an_orphan_s_writes_count_for_its_nearest_living_ancestor():
    machine = Machine()
    machine.period(ended={5: 4, 4: 3, 3: 2}, p5=0.5)
    assert machine.state.rates.keys() == {2}
    assert math.isclose(
        machine.state.rates[2], LIMITS.child**3 * 0.5 * MIB * (1 - math.exp(-PERIOD_S / LIMITS.smoothing_s))
    )


def test_blame_stops_at_exempt_ancestors():
    machine = Machine()
    for pid in range(10, 60):
        assert not machine.period(ended={pid: 0}, **{f"p{pid}": 5.0}).hold
    assert not machine.state.rates


def test_an_offender_is_released_when_calm_after_its_term():
    machine = Machine()
    machine.until_held(p3=4)
    since_s = machine.now_s
    while not (release := machine.period().release):
        assert machine.now_s - since_s < 60
    assert release.keys() == {3}
    assert machine.now_s - since_s >= LIMITS.hold_s
    assert not machine.state.offenders


def test_an_offender_is_not_released_while_it_writes():
    machine = Machine()
    machine.until_held(p3=4)
    for _ in range(100):
        assert not machine.period(p3=0.3).release


def test_an_offender_is_not_released_while_blocked_in_a_write():
    machine = Machine()
    machine.until_held(p3=4)
    for _ in range(100):
        assert not machine.period(waiting={3}).release
    assert machine.period().release


def test_a_writing_child_keeps_an_offender_limited():
    machine = Machine({4: 3})
    machine.until_held(p3=4)
    for _ in range(50):
        assert not machine.period(p4=0.5).release


def test_each_relapse_doubles_the_term():
    machine = Machine()
    terms = []
    for _ in range(8):
        machine.until_held(p3=4)
        since_s = machine.now_s
        while not machine.period().release:
            pass
        terms.append(machine.now_s - since_s)
    assert terms[3] >= 8 * LIMITS.hold_s
    assert terms[-1] == terms[-2] <= 2**5 * LIMITS.hold_s + PERIOD_S


def test_an_offender_that_ends_is_forgotten():
    machine = Machine()
    machine.until_held(p3=4)
    verdict = machine.period(ended={3: 2})
    assert not verdict.release
    assert not verdict.state.offenders


def test_a_child_of_an_ended_offender_is_limited_by_itself():
    state = RuleState(offenders={3: 50.0, 9: 60.0})
    after = succeed(state, {3: 2, 5: 3}, {3: 3, 4: 3, 5: 3, 9: 9})
    assert after.offenders.keys() - {3} == {4, 9}
    assert after.offenders[4] == 50.0


pids = st.integers(2, 12)
usages = st.lists(
    st.tuples(st.dictionaries(pids, st.integers(0, 10 * MIB)), st.dictionaries(pids, st.integers(0, 12), max_size=3)),
    max_size=30,
)


@given(usages, st.dictionaries(pids, pids))
def test_invariants_hold_for_any_sequence(periods, parents):
    """Ancestry may even be circular, because /proc is not read in one instant."""
    machine = Machine(parents)
    for written, ended in periods:
        before = set(machine.state.offenders)
        verdict = machine.period(ended=ended, **{f"p{pid}": size / MIB for pid, size in written.items()})
        offenders = set(verdict.state.offenders)
        assert offenders == (before - set(ended) | set(verdict.hold)) - set(verdict.release)
        assert not set(verdict.hold) & before - set(ended)
        assert set(verdict.release) <= before - set(ended)
        assert 0 not in verdict.state.rates
        assert all(rate > 0 and math.isfinite(rate) for rate in verdict.state.rates.values())
        assert not set(verdict.state.rates) & set(ended) - set(ended.values())


@given(st.dictionaries(pids, st.floats(0, 0.69 / 11)), st.integers(1, 40))
def test_no_writer_is_limited_if_all_together_are_below_the_share(rates, periods):
    machine = Machine()
    for _ in range(periods):
        assert not machine.period(**{f"p{pid}": rate for pid, rate in rates.items()}).hold


@given(st.floats(1.2, 100), st.integers(1, 10))
def test_the_rule_depends_only_on_shares(factor, periods):
    """Twice the rate of the disk with twice the writes gives the same result."""
    small, big = RuleState(), RuleState()
    for count in range(periods):
        written = {3: int(MIB * count / 3), 4: int(MIB / 2)}
        common = {"now_s": 2.0 * count, "period_s": PERIOD_S}
        scaled = Usage({pid: size * factor for pid, size in written.items()})
        one = judge(small, Usage(written), {}.get, LIMITS, bandwidth=MIB, **common)
        other = judge(big, scaled, {}.get, LIMITS, bandwidth=MIB * factor, **common)
        assert one.hold.keys() == other.hold.keys()
        small, big = one.state, replace(other.state)


@pytest.fixture
def disk(tmp_path):
    """A function that sets the size and the model of disk `sda` in a copy of /sys/block."""

    def set_up(size, model=""):
        (tmp_path / "block/sda/device").mkdir(parents=True, exist_ok=True)
        (tmp_path / "block/sda/size").write_text(f"{size}\n")
        if model:
            (tmp_path / "block/sda/device/model").write_text(f"{model}\n")

    return set_up


def test_a_disk_is_identified_by_model_and_size_or_by_name(disk, tmp_path):
    disk(1000)
    assert identity("sda", tmp_path / "block") == "sda 1000"
    disk(2000, "Stick")
    assert identity("sda", tmp_path / "block") == "Stick 2000"
    assert identity("sdb", tmp_path / "block") == "sdb"


def test_stored_rates_are_read_back(tmp_path):
    path = tmp_path / "lib" / "disks.json"
    remember(path, {"sda 1000": FAST})
    remember(path, {"sdc 1000": SLOW})
    assert recall(path) == ({"sda 1000": FAST, "sdc 1000": SLOW}, "")


FAST, SLOW = Learned(bandwidth=7e7), Learned(bandwidth=3e7, cached=True)
HOSTILE = [
    "[]",
    '"fast"',
    "7e7",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1",
    "0",
    "1e300",
    "true",
    "9" * 5000,
    "null",
    "1",
]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "\0",
        "[" * 99999,
        '{"a":' * 9999,
        *(f'{{"sda 1000": {value}}}' for value in HOSTILE),
        *(f'{{"sda 1000": {{"bandwidth": {value}, "cached": true}}}}' for value in HOSTILE if value != "7e7"),
        '{"sda 1000": {"cached": true}}',
        '{"sda 1000": {"bandwidth": 7e7}}',
        '{"sda 1000": {"bandwidth": 7e7, "cached": 1}}',
        '{"sda 1000": {"bandwidth": 7e7, "cached": true, "more": 1}}',
    ],
)
def test_an_unreadable_file_gives_no_rates(tmp_path, text):
    path = tmp_path / "disks.json"
    path.write_text(text)
    known, ignored = recall(path)
    assert known == {}
    assert str(path) in ignored
    assert "\n" not in printable(ignored)
    assert recall(tmp_path / "none.json") == ({}, "")
    remember(path, {"sda 1000": FAST})
    assert recall(path) == ({"sda 1000": FAST}, "")


def test_valid_entries_beside_a_damaged_one_are_used(tmp_path):
    (path := tmp_path / "disks.json").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}, "sdb 1000": -3}')
    assert recall(path) == ({"sda 1000": FAST}, f"{path}: impossible entries: sdb 1000")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("other", path)])
def test_links_and_fifos_are_neither_followed_nor_awaited(tmp_path, make):
    (tmp_path / "other").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}}')
    make(path := tmp_path / "disks.json")
    known, ignored = recall(path)
    assert known == {}
    assert ignored.startswith(str(path))
    remember(path, {"sda 1000": SLOW})
    assert (tmp_path / "other").read_text() == '{"sda 1000": {"bandwidth": 7e7, "cached": false}}'


def test_root_neither_reads_nor_writes_files_that_others_can_change(tmp_path):
    (lib := tmp_path / "lib").mkdir()
    (path := lib / "disks.json").write_text('{"sda 1000": {"bandwidth": 7e7, "cached": false}}')
    lib.chmod(0o777)
    known, ignored = recall(path, is_root=True)
    assert known == {}
    assert str(lib) in ignored or str(tmp_path) in ignored or "belongs to" in ignored
    remember(path, {"sda 1000": SLOW}, is_root=True)
    assert path.read_text() == '{"sda 1000": {"bandwidth": 7e7, "cached": false}}'


def test_an_unwritable_directory_stores_nothing(tmp_path):
    (tmp_path / "file").touch()
    remember(tmp_path / "file" / "disks.json", {"sda 1000": 7e7})
