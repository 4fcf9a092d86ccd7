"""Traces as text: which dirty limit slowed which task and for how long; counts that cannot be are named."""

import re

import pytest

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.throttletext import read_throttlings
from wblab.report.text import lines

# The machine: a limit of 1000 pages, of which 600 are free of any pause.
DECISION = (
    "{comm}-{pid}  [001] .....  {at}: balance_dirty_pages: bdi {bdi}: limit={limit} setpoint={setpoint} dirty={dirty} "
    "{wb}_setpoint={share} {wb}_dirty={own} dirty_ratelimit=100 task_ratelimit={rate} dirtied=32 dirtied_pause=32 "
    "paused={paused} pause={pause} period=10 think=0 cgroup_ino={group}"
)
STATE = (
    "{comm}-{pid}  [001] .....  {at}: global_dirty_state: dirty={dirty} writeback=0 unstable=0 bg_thresh=200 "
    "thresh=1000 limit=1000 dirtied=1 written=1"
)


def decision(**changed):
    usual = {
        "comm": "dd",
        "pid": 7,
        "at": "10.000001",
        "bdi": "8:16",
        "limit": 1000,
        "setpoint": 800,
        "dirty": 950,
        "wb": "bdi",
        "share": 780,
        "own": 900,
        "rate": 50,
        "paused": 0,
        "pause": 200,
        "group": 1,
    }
    return DECISION.format(**usual | changed)


def state(dirty=950, comm="dd", pid=7):
    return STATE.format(comm=comm, pid=pid, at="9.9", dirty=dirty)


def slowed(*rows):
    return read_throttlings("\n".join(rows)).slowed


def test_the_machine_s_limit_by_its_own_counts():
    (found,) = slowed(state(), decision())
    assert (found.comm, found.pid, found.of, found.disk) == ("dd", 7, "machine", "8:16")
    assert (found.limit, found.dirty, found.on_disk) == (1000 * 4096, 950 * 4096, 900 * 4096)


def test_a_disk_s_own_limit_slows_where_the_machine_s_would_not():
    (found,) = slowed(state(300), decision(dirty=300, share=40, own=50))
    assert (found.of, found.limit) == ("disk", 40 * 1001 // 800 * 4096)


def test_a_group_s_limit_is_not_the_machine_s():
    (found,) = slowed(state(5000), decision(group=812))
    assert (found.of, found.group) == ("group", 812)
    (found,) = slowed(decision(group=812))
    assert found.of == ""


def test_a_group_s_limit_follows_where_the_kernel_says_the_machine_s():
    whole = state(2000).replace("thresh=200", "thresh=4000").replace("=1000", "=8000")
    row = decision(group=812, limit=8000, dirty=750, setpoint=4300, own=740)
    (found,) = slowed(whole, row)  # half way between the group's ceiling of 600 and the machine's limit
    assert (found.of, found.group, found.limit) == ("group", 812, 800 * 4096)
    (found,) = slowed(whole, decision(group=812, limit=8000, dirty=7500, setpoint=7000))
    assert (found.of, found.limit) == ("group", 8000 * 4096)  # other pages than the machine has dirty
    (found,) = slowed(state(7500).replace("thresh=200", "thresh=4000").replace("=1000", "=8000"), row)
    assert found.of == "group"


def test_a_stop_is_as_long_as_the_kernel_says_it_was_in_all():
    (found,) = slowed(
        decision(),
        decision(paused=210),
        decision(paused=420, pause=80),
        decision(pause=-3),
        decision(pause=100),
    )
    assert (found.slept_s, found.longest_s, found.stops) == (0.6, 0.5, 2)


@pytest.mark.parametrize("value", ["18446744073709551614", "4294967294"])
def test_a_count_below_zero_is_a_defect_of_the_kernel(value, tmp_path):
    file = tmp_path / "trace.txt"
    file.write_text("\n".join([decision(), decision(dirty=value)]))
    found = read_throttlings(file.read_text())
    assert (found.impossible, found.decisions) == (1, 1)
    assert "a defect of that kernel" in str(explained(str(file)).headline)


def test_forms_of_ftrace_trace_cmd_and_perf_script_say_the_same():
    usual = decision(comm="kworker/u4:1", pid=13, wb="wb")
    trace_pipe = usual.replace("-13  [001] .....  ", "-13    (     13) [001] d..2. ")
    perf = re.sub(r"-13  \[001\] \.\.\.\.\.  (\S+) balance", r"    13 [001]    \1 writeback:balance", usual)
    report = usual.replace(" ..... ", "")
    old = decision(comm="kworker/u4:1", pid=13)
    assert len({slowed(row) for row in (usual, trace_pipe, perf, report, old)}) == 1


def test_the_answer_fits_and_a_trace_without_the_event_is_named(tmp_path):
    file = tmp_path / "trace.txt"
    file.write_text("\n".join([state(), decision(), decision(comm="cp", pid=8)]))
    shown = lines(explained(str(file)), 80)
    assert shown[2].startswith("dd and cp slept 400 ms in all at the machine's dirty limit")
    assert shown.index("In the lab a strict limit for the slow disk ended it for writers to other disks:") <= 7
    file.write_text("dd-7  [001] .....  10.000001: sched_switch: prev_comm=dd prev_pid=7\n")
    with pytest.raises(InputError, match="a trace as text, without stacks"):
        explained(str(file))


def test_a_trace_whose_counts_all_cannot_be_says_nothing_of_who_was_slowed(tmp_path):
    file = tmp_path / "trace.txt"
    file.write_text(decision(dirty=str((1 << 64) - 2)))
    assert "it does not say" in str(explained(str(file)).headline)
