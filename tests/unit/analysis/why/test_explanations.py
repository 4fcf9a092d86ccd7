"""Live runs, explained by their captures."""

import shutil
from collections import Counter
from dataclasses import replace

import pytest
from support.blametraces import DEVICE, Story
from support.originals import live_run as live_original
from support.runs import MS, write_run_of

from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explanations
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lab.captures import CapturedPause, write_capture
from wblab.lab.results import SPECS
from wblab.lab.specfile import HostDisk, LiveSpec, read_spec
from wblab.report.whyanswer import containers, sentence
from wblab.report.whycause import groups

from .conftest import MW1
from .test_verdict import BUFFER, BUFFER_ENDS, DONE

COMMS = {MW1: "mw1", 8: "dd", 21: "kworker/u8:1-flush-254:0"}
START_NS = 1_000_000_000


def live_run(
    tmp_path,
    captured: dict[tuple[int, int], Story],
    rounds_ms: list[int],
    groups: dict[str, tuple[int, ...]] | None = None,
) -> Run:
    """A live run of mw1 with captures of these spans, in ms. groups: the tasks in each control group."""
    loads = {"mw1": read_spec(SPECS.find("base")).load["mw1"]}
    spec = LiveSpec(name="live", memory=8 << 30, disk=HostDisk(filesystem="ext4"), load=loads)
    path = write_run_of(spec, tmp_path / "run", {"mw1": [START_NS + time * MS for time in rounds_ms]}, kind="live")
    for number, ((start_ms, end_ms), story) in enumerate(captured.items(), 1):
        start_ns, end_ns = START_NS + start_ms * MS, START_NS + end_ms * MS
        write_capture(path, CapturedPause(number, "mw1", start_ns, end_ns, start_ns, end_ns, groups=groups or {}))
        (path / f"trace.pause-{number}.dat").write_bytes(story.encode())
    return read_run(path)


def behind(start_ms, end_ms):
    """mw1 waits for a block from one time to another, while the disk completes the I/O of others."""
    story = Story(COMMS)
    story.queue(start_ms * MS, 21, 1000, 72)
    story.queue(start_ms * MS, 8, 2000, 16)
    story.queue(start_ms * MS, MW1, 200, 8)
    story.switch(start_ms * MS, MW1, 0, stack=BUFFER)
    story.complete((start_ms + 10) * MS, 1000, 72)
    story.complete((start_ms + 20) * MS, 2000, 16)
    story.complete(end_ms * MS, 200, 8)
    story.hand_over(end_ms * MS, 0, MW1, (*BUFFER_ENDS, *DONE))
    return story


def test_a_pause_is_explained_by_the_capture_that_covers_it(tmp_path):
    run = live_run(tmp_path, {(0, 1500): behind(100, 1100), (1500, 3000): behind(1600, 2600)}, [0, 1200, 1500, 2700])
    first, second = explanations(run)
    assert [item.explanation.number for item in (first, second)] == [1, 2]
    assert first.recorded is not second.recorded
    for explained in (first, second):
        assert explained.explanation.parts["buffer"] == 1000 * MS
        assert explained.explanation.unknown_ns == 0


def test_a_live_run_s_devices_have_the_kernel_s_names(tmp_path):
    run = live_run(tmp_path, {(0, 1500): behind(100, 1100)}, [0, 1200])
    for names, said in (
        ({}, "the device 98:0"),
        ({"98:0": "loop5"}, "the disk loop5"),
        ({"98:0": ["x"]}, "the device 98:0"),
    ):
        run = replace(run, record=run.record | {"live": {"device_names": names}})
        (explained,) = explanations(run)
        (cause,) = explained.explanation.causes
        assert (cause.request.disk, cause.request.below) == (said, said)


def test_a_live_run_names_what_tries_remedies_for_its_machine(tmp_path, capsys):
    run = live_run(tmp_path, {(0, 1500): behind(100, 1100)}, [0, 1200])
    assert main(["why", str(run.path)]) == 0
    assert "records no writes to a disk: repeat it with a command that writes to one" in capsys.readouterr().out
    live_original(tmp_path / "whole")
    for file in run.path.glob("trace.pause-*"):
        shutil.copy(file, tmp_path / "whole")
    assert main(["why", str(tmp_path / "whole"), "--bound", "100ms"]) == 0
    said = capsys.readouterr().out
    assert f"wblab advise --dir DIR --like {tmp_path}/whole" in said
    assert "--prove" not in said


def test_a_live_run_is_not_proved(tmp_path, capsys):
    run = live_run(tmp_path, {}, [0, 1200])  # refused before its captures are read: it has none
    assert main(["why", str(run.path), "--prove"]) == 2
    assert "is a live run, which cannot be repeated" in capsys.readouterr().err


def test_a_kernel_that_does_not_name_the_file_of_a_bio(tmp_path):
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): behind(100, 1100)}, [0, 1200]))
    (cause,) = explained.explanation.causes
    assert cause.request.ahead == {"the flusher (program unknown)": 72 * 512, "dd": 16 * 512, "mw1": 8 * 512}


LIMITED = ("submit_bio_noacct_nocheck", "blk_throtl_dispatch_work_fn", "process_one_work", "kthread")
OTHERS = ("submit_bio_noacct", "dm_submit_bio", "process_one_work", "kthread")
WORKER, IDLE = 22, ("__schedule", "schedule", "worker_thread", "kthread")
RELEASE = ("try_to_wake_up", "__queue_work", "throtl_pending_timer_fn", "run_timer_softirq", "do_IRQ")


def limited(stack=(), wake=()):
    """mw1 waits from 100 ms to 1100 ms for a block that another program's 72 sectors precede.

    A worker hands both to the disk at the end: with this stack, woken with that one.
    """
    story = Story(COMMS | {WORKER: "kworker/0:1"})
    for page in range(40):
        story.dirty(0, 8, 13, page)
    story.switch(0, WORKER, 0, stack=IDLE)
    story.switch(100 * MS, MW1, 0, stack=BUFFER)
    if wake:
        story.hand_over(1080 * MS, 0, WORKER, wake)
    for at, (sector, sectors) in enumerate(((1000, 72), (200, 8))):
        story.queue((1090 + 4 * at) * MS, WORKER, sector, sectors, stack=stack)
        story.complete((1092 + 8 * at) * MS, sector, sectors)
    story.hand_over(1100 * MS, 0, MW1, (*BUFFER_ENDS, *DONE))
    return story


@pytest.mark.parametrize(("stack", "wake"), [(LIMITED, ()), ((), RELEASE)])
def test_a_rate_limit_is_known_by_the_stack_of_what_it_releases(tmp_path, stack, wake):
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): limited(stack, wake)}, [0, 1200]))
    (group,) = groups([explained.explanation])
    assert sentence(group).endswith(
        ": a request of 4 KiB that it waited for was delayed for 994 ms by a limit on the rate of I/O "
        "(io.max or its like, blk-throttle), behind 40 KiB from dd."
    )
    assert explained.explanation.unexplained_ns == 0


@pytest.mark.parametrize(("stack", "wake"), [(OTHERS, ()), ((), ()), (OTHERS, RELEASE)])
def test_what_another_worker_submits_was_held_by_no_limit(tmp_path, stack, wake):
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): limited(stack, wake)}, [0, 1200]))
    assert "limit" not in sentence(*groups([explained.explanation]))


def flushing(*dirtied, order=0, again=0):
    """mw1 waits behind 72 sectors of file 13, 16 of file 14, 16 of the device, 24 of nothing named: all the flusher's.

    dirtied: for each dirtied folio, the task and the file. order: of the first of them. again: how many folios of file
    13 the flusher dirties while it writes it.
    """
    story = Story(COMMS | {9: "dd", 10: "rsync"})
    if order:
        story.folio(0, dirtied[0][0], dirtied[0][1], 0, order=order)
    for at, (pid, inode) in enumerate(dirtied):
        story.dirty(at * 1000, pid, inode, at)
    at_ns = 50 * MS
    for inode, sector, sectors in ((13, 1000, 72), (14, 2000, 16), (DEVICE, 3000, 16)):
        story.write_inode(at_ns, 21, inode)
        for index in range(again if inode == 13 else 0):
            story.dirty(at_ns, 21, inode, index)
        story.queue(at_ns, 21, sector, sectors)
        story.wrote_inode(at_ns, 21, inode)
    story.queue(at_ns, 21, 4000, 24)
    story.queue(100 * MS, MW1, 200, 8)
    story.switch(100 * MS, MW1, 0, stack=BUFFER)
    for at, (sector, sectors) in enumerate(((1000, 72), (2000, 16), (3000, 16), (4000, 24)), 1):
        story.complete((100 + at) * MS, sector, sectors)
    story.complete(1100 * MS, 200, 8)
    story.hand_over(1100 * MS, 0, MW1, (*BUFFER_ENDS, *DONE))
    return story


@pytest.mark.parametrize(
    ("dirtied", "of_13", "of_14"),
    [
        ([*[(8, 13)] * 40, (9, 14)], "dd", "dd"),
        ([*[(8, 13)] * 20, *[(9, 13)] * 20, (10, 14)], "dd", "rsync"),  # two tasks of one program
        ([*[(8, 13)] * 39, (10, 13), (10, 14)], "dd", "rsync"),  # one page of forty is another task's
        ([*[(8, 13)] * 20, *[(10, 13)] * 20, (10, 14)], "the flusher (program unknown)", "rsync"),
        ([(10, 14)], "the flusher (program unknown)", "rsync"),  # dirtied before the capture began
        ([(8, DEVICE), (10, 14)], "the flusher (program unknown)", "rsync"),
    ],
)
def test_the_flusher_s_io_belongs_to_the_program_that_dirtied_the_file(tmp_path, dirtied, of_13, of_14):
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): flushing(*dirtied)}, [0, 1200]))
    (cause,) = explained.explanation.causes
    expected = Counter({of_13: 72 * 512})
    expected[of_14] += 16 * 512
    expected["the filesystem"] += 16 * 512
    expected["the flusher (program unknown)"] += 24 * 512
    expected["mw1"] += 8 * 512
    assert cause.request.ahead == {name: size for name, size in expected.items() if size}


def test_a_file_belongs_to_the_program_that_dirtied_most_pages_however_many_folios(tmp_path):
    """It dirtied one folio of 512 pages of file 13, rsync one page."""
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): flushing((9, 13), (10, 13), order=9)}, [0, 1200]))
    (cause,) = explained.explanation.causes
    assert cause.request.ahead["dd"] == 72 * 512


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        ({"/docker/4f3c": (8, 9)}, ["dd is in the control group /docker/4f3c."]),
        ({"/docker/4f3c": (8, 9), "/docker/77aa": (7, MW1)}, ["dd is in the control group /docker/4f3c."]),
        ({"/docker/4f3c": (8,), "/docker/77aa": (9,)}, []),  # two programs of one name
        ({"/docker/4f3c": (8,)}, []),  # one of them had ended when the groups were noted
        ({}, []),
    ],
)
def test_the_control_group_of_who_is_named_is_said_if_all_its_tasks_are_in_it(tmp_path, noted, said):
    story = Story(COMMS | {9: "dd"})
    for at_ms, task, sector in ((100, 8, 1000), (100, 9, 3000), (100, MW1, 200)):
        story.queue(at_ms * MS, task, sector, 8 if task == MW1 else 512)
    story.switch(100 * MS, MW1, 0, stack=BUFFER)
    story.complete(600 * MS, 1000, 512)
    story.complete(1090 * MS, 3000, 512)
    story.complete(1100 * MS, 200, 8)
    story.hand_over(1100 * MS, 0, MW1, (*BUFFER_ENDS, *DONE))
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): story}, [0, 1200], noted))
    (group,) = groups([explained.explanation])
    assert "dd" in sentence(group)
    assert containers(group) == said


def test_what_the_flusher_dirties_again_stays_its_writer_s(tmp_path):
    """With data=journal, ext4's flusher dirties pages that it could not write yet."""
    story = flushing(*[(9, 13)] * 40, (10, 14), again=40)
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): story}, [0, 1200]))
    (cause,) = explained.explanation.causes
    assert cause.request.ahead["dd"] == 72 * 512


def test_a_sleep_that_spans_a_loss_is_no_evidence(tmp_path):
    """It seems to span two cycles: that the task was woken, worked and slept again was lost."""
    story = Story(COMMS)
    story.queue(0, MW1, 200, 8)
    story.switch(100 * MS, MW1, 0, stack=BUFFER)
    story.switch(300 * MS, 8, 0, preempted=True)
    story.lose()
    story.switch(1500 * MS, 8, 0, preempted=True)
    story.complete(2500 * MS, 200, 8)
    story.hand_over(2500 * MS, 0, MW1, (*BUFFER_ENDS, *DONE))
    run = live_run(tmp_path, {(0, 3000): story}, [0, 1200, 2700])
    for explained in explanations(run):
        assert "buffer" not in explained.explanation.parts
        assert explained.explanation.unknown_ns >= 1000 * MS
        assert sum(chain.time_ns for chain in explained.explanation.chains) == explained.explanation.pause_ns
        assert explained.explanation.chains[0].end == "unknown"
        assert "request" not in {chain.end for chain in explained.explanation.chains}


def test_a_task_that_seemed_to_run_while_events_were_lost_may_have_slept(tmp_path):
    story = Story(COMMS)
    story.switch(100 * MS, 0, MW1)
    story.lose()
    story.switch(900 * MS, 8, 0, preempted=True)
    story.switch(1100 * MS, MW1, 8, preempted=True)
    (explained,) = explanations(live_run(tmp_path, {(100, 1200): story}, [100, 1200]))
    assert explained.explanation.parts["unknown"] == 800 * MS
    assert explained.explanation.parts["running"] < 300 * MS
    assert sum(chain.time_ns for chain in explained.explanation.chains) == explained.explanation.pause_ns


def test_the_capture_with_fewer_losses_is_used(tmp_path):
    lossy = Story(COMMS)
    lossy.switch(0, 8, 0, preempted=True)
    lossy.lose()
    lossy.switch(1200 * MS, 8, 0, preempted=True)
    run = live_run(tmp_path, {(0, 1500): lossy, (50, 1500): behind(100, 1100)}, [0, 1200])
    (explained,) = explanations(run)
    assert explained.explanation.parts["buffer"] == 1000 * MS


def test_uncovered_time_is_unknown(tmp_path):
    story = behind(700, 1100)
    (explained,) = explanations(live_run(tmp_path, {(600, 1500): story}, [0, 1200]))
    assert explained.explanation.parts == {"unknown": 600 * MS, "buffer": 400 * MS, "running": 100 * MS}
    assert sum(chain.time_ns for chain in explained.explanation.chains) == explained.explanation.pause_ns


def test_a_sleep_that_began_before_the_capture_has_no_stack(tmp_path):
    story = Story(COMMS)
    story.switch(600 * MS, 8, 0, preempted=True)
    story.switch(1100 * MS, 0, MW1)
    (explained,) = explanations(live_run(tmp_path, {(600, 1500): story}, [0, 1200]))
    assert explained.explanation.parts == {"unknown": 1100 * MS}


def test_a_live_run_without_captures_says_how_to_get_them(tmp_path):
    with pytest.raises(InputError, match="--capture-pauses"):
        explanations(live_run(tmp_path, {}, [0, 1200]))


@pytest.mark.parametrize(("ended_ms", "kind"), [(1100, "buffer"), (1000, "unknown")])
def test_a_wake_up_during_a_completion_needs_no_stack_to_be_explained(tmp_path, ended_ms, kind):
    story = Story(COMMS)
    story.switch(100 * MS, MW1, 0, stack=BUFFER)
    story.complete(1000 * MS, 200, 8)
    if ended_ms == 1000:
        story.ended(1000 * MS, 200)
    story.wake(1000 * MS, 0, MW1)
    story.ended(1100 * MS, 200)
    story.switch(1100 * MS, 0, MW1)
    (explained,) = explanations(live_run(tmp_path, {(0, 1500): story}, [0, 1200]))
    assert explained.explanation.parts[kind] == 900 * MS
