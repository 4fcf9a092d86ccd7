"""Texts that are damaged, mixed or made to harm: read in bounded time, and never printed as they are."""

import random
import time

import pytest
from support import eventtexts, sleeptexts, statetexts
from support.slowtexts import LOGS
from support.stacktexts import FORMS, cases, machines, text

from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.sleeps import SWAP_WAITS
from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.eventreport import event_report
from wblab.foreign.eventtext import read_events
from wblab.foreign.judge import judged
from wblab.foreign.machinereport import machine_report
from wblab.foreign.machinetext import read_machine
from wblab.foreign.plaintext import unwrapped
from wblab.foreign.sleepreport import sleep_report
from wblab.foreign.sleeptext import read_sleeps
from wblab.foreign.stacks import read_stacks
from wblab.report.page import page
from wblab.report.text import lines

KNOWN = {kind.name for kind in KINDS} | {"", "unknown"}
MUTANTS, MOST_S = 200, 2.0
_BITS = [
    "\x1b[2J",
    "\u202e",
    "\0",
    "<script>alert(1)</script>",
    "? ",
    "[<",
    ">]",
    "+0x",
    "/0x",
    " [",
    "]",
    "INFO: task ",
    ":",
    "PID: ",
    "==> /proc/vmstat <==\n",
    "9" * 30,
    "-1",
    "%util",
    '{"blockdevices": [',
    "nan",
]


def _texts(chance):
    """Texts of stacks in one form, of machines' states, traces, logs of slow calls, or all of them."""
    form = chance.choice(list(FORMS))
    kinds = {
        "stacks": lambda: text(chance.choice(CASES), form),
        "state": lambda: statetexts.text(chance.choice(statetexts.MACHINES), chance.choice(list(statetexts.FORMS))),
    }
    kinds["switches"] = lambda: sleeptexts.text(chance.choice(list(sleeptexts.FORMS)), *_switches(chance))
    kinds["events"] = lambda: "\n".join(
        [*eventtexts.request(1, 9, 500, chance.choice(list(eventtexts.FORMS))), *eventtexts.counts(2, 700)]
    )
    kinds["log"] = lambda: chance.choice(LOGS).text(
        *((chance.randrange(86400), chance.random() * 90) for _ in range(4))
    )
    of = chance.choice([*kinds, *kinds, None])
    return [kinds[of or chance.choice(list(kinds))]() for _ in range(chance.randint(1, 4))]


def _switches(chance):
    tasks = [("dd", 7), ("kworker/1:2", 8), ("swapper/0", 0), ("my sql", 9)]
    return [
        (
            at / 2,
            chance.choice(tasks),
            chance.choice("DSR"),
            chance.choice(tasks),
            chance.choice(((), sleeptexts.STACK)),
        )
        for at in range(8)
    ]


def _mutant(chance):
    """A text with cut, doubled, joined and swapped lines, and with letters changed."""
    said = "\n".join(_texts(chance))
    for _ in range(chance.randint(1, 12)):
        rows = said.split("\n")
        at = chance.randrange(len(rows))
        match chance.randrange(7):
            case 0:
                del rows[at]
            case 1:
                rows[at] = rows[at][: chance.randint(0, len(rows[at]))]
            case 2:
                rows.insert(at, chance.choice(rows))
            case 3:
                rows[at] = rows[at] + chance.choice(rows)
            case 4:
                place = chance.randint(0, len(rows[at]))
                rows[at] = rows[at][:place] + chance.choice(_BITS) * chance.choice((1, 1, 300)) + rows[at][place:]
            case 5:
                other = chance.randrange(len(rows))
                rows[at], rows[other] = rows[other], rows[at]
            case 6:
                place = chance.randint(0, len(rows[at]))
                rows[at] = rows[at][:place] + chr(chance.randrange(1, 0x500)) + rows[at][place + 1 :]
        said = "\n".join(rows)
    return said


CASES = cases()


def _tried(seed, tmp_path):
    chance = random.Random(seed)
    file = tmp_path / "mutant.txt"
    file.write_text(_mutant(chance), errors="surrogatepass")
    begin = time.process_time()
    try:
        report = explained(str(file))
        shown = "\n".join(lines(report, 80))
        assert {row["kind"] for row in report.data.get("tasks", ())} <= KNOWN
        page(report)
    except InputError as error:
        if "\n" in str(error):
            raise
        return
    assert time.process_time() - begin < MOST_S
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize("part", range(4))
def test_a_mutant_is_read_in_bounded_time_or_refused_in_one_line(part, tmp_path):
    for seed in range(part, MUTANTS, 4):
        _tried(seed, tmp_path)


@pytest.mark.soak
def test_two_thousand_mutants(tmp_path):
    for seed in range(MUTANTS, MUTANTS + 2000):
        _tried(seed, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "MemFree: 1 kB\n" * 300_000,
        "Device r/s w/s %util\n" + "sda 1 1 1\n" * 300_000,
        "Device r/s w/s " + "x " * 100_000 + "%util\n" + "sda " + "1 " * 100_000,
        "".join(f"/sys/block/sd{at}/queue/nr_requests:1\n" for at in range(100_000)),
        '{"blockdevices": ' + "[" * 500_000,
        "> " * 500_000 + "Dirty: 1 kB",
        "root@" + "a" * 500_000 + "# cat /proc/meminfo",
        "Dirty: " + "1" * 500_000 + " kB",
        "".join(f"vm.dirty_{at} = 1\n" for at in range(200_000)),
        "Dirty: 1 kB " + "Linux " * 200_000,
        "dd 7 [000] 1.000000: sched:sched_switch: prev_comm=" + "a " * 400_000,
        "dd-7 [000] 1.000000: sched_switch: dd:7 [120] D ==> a:8 [120]\n" * 100_000 + " => schedule\n" * 100_000,
        "NAME ROTA SCHED\n" + "sda " * 5000 + "\n" + "sda 1 bfq\n" * 50_000,
        "a-7 [000] 1.000000: block_rq_issue: 8,16 W (" + "(" * 500_000,
        "".join(f"a-7 [0] 1.0001: block_rq_issue: 8,16 W 1 () {at} + 8 [a]\n" for at in range(100_000)),
        "&#" * 500_000,
        '{"MESSAGE": ' + "[" * 60_000 + '\n{"MESSAGE": "' + "a\\n" * 500_000,
    ],
    ids=range(17),
)
def test_a_state_made_to_take_long_does_not(line):
    begin = time.process_time()
    line = unwrapped(line)
    if events := read_events(line):
        lines(event_report("x", events), 80)
    if found := read_machine(line):
        lines(machine_report("x", found), 80)
    if slept := read_sleeps(line):
        lines(sleep_report("x", slept), 80)
    assert time.process_time() - begin < 5 * MOST_S


@pytest.mark.parametrize(
    "line",
    [
        "> " * 100_000,
        "[ 1.1]" * 50_000,
        "INFO: task " + "a" * 100_000 + ":",
        "a " * 100_000,
        "task:" + " " * 100_000,
        "#1 [" + "f" * 100_000,
        "(" * 100_000,
        "PID: 1" + " " * 100_000,
        "\n" * 300_000,
        "a+0x1/0x1\n" * 200_000,
    ],
    ids=range(10),
)
def test_a_line_or_a_text_made_to_take_long_does_not(line):
    begin = time.process_time()
    found = read_stacks(line)
    assert time.process_time() - begin < 5 * MOST_S
    assert sum(len(task.frames) for task in found.tasks) <= 128 * max(1, len(found.tasks))


def test_a_stack_whose_end_is_cut_says_the_same_or_less():
    for case in CASES:
        for kept in range(1, len(case.frames)):
            rows = [f" {name}+0x1/0x2" for name, sure, _ in case.frames[:kept] if sure]
            (task,) = read_stacks("\n".join(["Call Trace:", *rows])).tasks
            # Who takes a lock, and for what, is in what was cut; and whether a page or a request is swap's.
            less = SWAP_WAITS if case.kind.startswith("swap") else ()
            assert judged(task).wait.kind in {"unknown", case.kind, "lock", "work", *less}, (case, kept)


def test_a_stack_whose_begin_is_cut_is_not_sure():
    for case in CASES:
        rows = text(case, "hung").splitlines()
        at = next(place for place, row in enumerate(rows) if "schedule+" in row) if case.form != "proc" else 0
        if at:
            inner = [place for place, row in enumerate(rows) if "+0x" in row]
            (task,) = read_stacks("\n".join(rows[: inner[0]] + rows[inner[-1] :])).tasks
            said = judged(task).wait
            assert said.kind == "unknown" or not said.is_sure


def test_lines_between_those_of_a_stack_do_not_change_it():
    noise = "[ 1320.999999] usb 1-1: new high-speed USB device number 4 using xhci_hcd"
    for machine in machines():
        for case in machine.cases:
            if case.form == "hung":
                rows = text(case).splitlines()
                rows.insert(len(rows) - 2, noise)
                (task,) = read_stacks("\n".join(rows)).tasks
                assert judged(task).wait.kind == case.kind


def test_frames_that_the_kernel_is_not_sure_of_do_not_count_beside_others():
    rows = ["dd D 0 7 1 0x0", "Call Trace:", " ? balance_dirty_pages+0x1/0x2", " schedule+0x1/0x2", " foo_wait+0x1/0x2"]
    (task,) = read_stacks("\n".join(rows)).tasks
    assert judged(task).wait.kind == "unknown"
    (task,) = read_stacks("\n".join(rows[:3])).tasks
    said = judged(task).wait
    assert (said.kind, said.is_sure) == ("throttled", False)


def test_a_task_that_runs_waits_for_nothing():
    rows = [
        "sysrq: Show backtrace of all active CPUs",
        "NMI backtrace for cpu 1",
        "CPU: 1 PID: 77 Comm: dd Not tainted 5.4.0-42 #1",
        "Call Trace:",
        " balance_dirty_pages+0x1/0x2",
        " vfs_write+0x1/0x2",
    ]
    (task,) = read_stacks("\n".join(rows)).tasks
    assert (task.comm, task.pid, judged(task).wait.nature) == ("dd", 77, "runs")
