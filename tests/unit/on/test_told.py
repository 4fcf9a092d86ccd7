"""What is said at the end of a program: what it lacked, how long it took, whether it repeats, in what runs differ."""

import signal
from dataclasses import replace

import pytest

from wblab.on.calls import Call
from wblab.on.heard import Said
from wblab.on.lacks import lacks_said
from wblab.on.made import Ran
from wblab.on.order import OUT, Order
from wblab.on.told import Told, compared


@pytest.fixture
def ran(tmp_path):
    class Finished:
        directory = tmp_path / "a run"
        record = {"wall_s": 4.2, "spec": {"clock": {"mode": "virtual"}, "kernel": "7.2"}}  # noqa: RUF012

    return Ran(Finished(), Order(argv=("x",), directory="/p"), Said(code=0, time_ns=90_000_000_000), (), computes=False)


def test_the_last_line_has_both_times_and_how_it_repeats(ran):
    *_, run, last = Told(ran).lines()
    assert run == f"run: {ran.finished.directory}"
    ran.finished.record["spec"]["kernel"] = "/a/linux"
    assert Told(ran).lines()[-1] == f"{last} --kernel /a/linux"
    assert last == f"90 s in the guest, 4.20 s here; to repeat it to the bit: wblab repeat '{ran.finished.directory}'"


@pytest.mark.parametrize(
    ("change", "why_not"),
    [({"computes": True}, "it computed for long"), ({"signals": (signal.SIGINT,)}, "it got a signal")],
)
def test_the_last_line_says_why_it_does_not_repeat(ran, change, why_not):
    assert f"; it does not repeat to the bit: {why_not}" in Told(replace(ran, **change)).lines()[-1]


def test_a_clock_that_is_this_machines_does_not_repeat(ran):
    ran.finished.record["spec"]["clock"]["mode"] = "real"
    assert Told(ran).lines()[-1].endswith("it does not repeat to the bit: its clock is this machine's")


def test_what_a_program_that_failed_lacked_is_said():
    calls = ["perf_event_open of app", "call 470 of app"]
    assert lacks_said(calls, 0) == []
    assert lacks_said(calls, 1) == [f"the guest's kernel lacks what it asked for: {', '.join(calls)}"]
    assert lacks_said(["a of b"] * 7, 1)[0].endswith(" and 2 more")
    assert lacks_said([], 1) == []
    (said,) = lacks_said([], 132)
    assert said.startswith("SIGILL: ")


def test_several_runs_are_compared_in_what_differs(ran):
    def one(code, time_s, call_s, printed):
        said = Said(code=code, time_ns=int(time_s * 1e9))
        said.hear(OUT, printed)
        return Told(replace(ran, said=said), longest=Call("fsync", "app", 3, 0, int(call_s * 1e9)))

    runs = [("seed 0", one(0, 1, 0.5, b"a")), ("seed 1", one(0, 1, 0.7, b"b")), ("seed 2", one(0, 1, 0.5, b"a"))]
    assert compared(runs) == [
        "run     longest call  output",
        "seed 0  fsync 500 ms  A",
        "seed 1  fsync 700 ms  B",
        "seed 2  fsync 500 ms  A",
        "the same in all 3 runs: exit code 0, time 1 s",
    ]
    assert compared(runs[::2]) == ["the same in all 2 runs: exit code 0, time 1 s, longest call fsync 500 ms, output"]
    assert "exit code" in compared([*runs, ("seed 3", one(1, 1, 0.5, b"a"))])[0]


def test_a_program_over_its_limit_has_our_code_and_one_that_fails_its_own(ran):
    slow = Call("fsync", "app", 3, 0, 2)
    assert [Told(ran, 1, slow).code, Told(ran, 2, slow).code] == [124, 0]
    assert Told(replace(ran, said=Said(code=3)), 1, slow).code == 3
    assert Told(replace(ran, said=Said(code=0, unwritten="no room"))).code == 125
