from dataclasses import replace

import pytest
from support.advised import MACHINE, MIB, SITE

from wblab.core.errors import InputError
from wblab.live.advise.plan import AXIS, BLOCK, REQUESTS, fine_factor, plan, said_of, unknown_in
from wblab.live.advise.remedies import parse_remedies, read_remedies
from wblab.live.advise.settings import WantedSetting, differing, impossible
from wblab.live.disks.queue import MachineQueue
from wblab.study.plan import Plan


def remedies(**tables):
    return parse_remedies({name: {"about": name, **table} for name, table in tables.items()}, {})


def test_a_remedy_is_translated_to_the_twin_and_to_the_machine():
    given = remedies(both={"dirty": "1s", "background": "500ms", "nr_requests": 16, "own_limit": "500ms"})
    found = plan(MACHINE, SITE, given, [1, 2])
    now, then = (cell.spec for cell in found.plan.cells)
    assert [cell.levels for cell in found.plan.cells] == [{AXIS: "now"}, {AXIS: "both"}]
    assert [str(item) for item in found.candidates[1].wanted] == [
        *("vm.dirty_background_bytes=52428800", "vm.dirty_bytes=104857600"),
        *("nr_requests=16", "max_ratio_fine=500000", "strict_limit=1"),
    ]
    page = 4096
    for key, value in (("vm.dirty_background_bytes", 50 * MIB), ("vm.dirty_bytes", 100 * MIB)):
        assert 0 <= then.sysctl[key] - value / found.factor < page
    queue = then.disk["disk"].queue
    assert queue["max_sectors_kb"] == 1280 // found.factor // 4 * 4
    assert queue["nr_requests"] * queue["max_sectors_kb"] == pytest.approx(16 * 1280 / found.factor, rel=0.1)
    assert then.disk["disk"].bdi == {"max_ratio_fine": 500_000, "strict_limit": 1}
    assert (now.memory, now.disk["disk"].write_bps) == (then.memory, then.disk["disk"].write_bps)
    assert now.disk["disk"].bdi == {}
    assert now.sysctl["vm.dirty_expire_centisecs"] == then.sysctl["vm.dirty_expire_centisecs"] == 3000


def test_all_of_the_lab_s_remedies_can_be_planned_and_stored():
    late = replace(MACHINE, background_bytes=1200 * MIB)  # lower than half of its limit
    offering = replace(SITE, schedulers=(*SITE.schedulers, "kyber"))
    found = plan(late, offering, read_remedies(), range(1, 4))
    assert Plan.from_json(found.plan.to_json()) == found.plan
    assert not found.left_out
    assert [item.cell for item in found.candidates] == [cell.name for cell in found.plan.cells]


def test_a_copy_whose_blocks_nobody_knows_is_tried_in_small_and_large_ones_on_a_slow_disk():
    slow = replace(MACHINE, write_bps=4 * MIB, folio_bytes=2 * MIB)
    given = remedies(own={"own_limit": "50% of the limit"})
    found = plan(slow, SITE, given, [1])
    assert [(cell.name, cell.levels) for cell in found.plan.cells] == [
        ("0-now", {AXIS: "now", BLOCK: "4 KiB"}),
        ("0-now-large", {AXIS: "now", BLOCK: "1 MiB"}),
        ("1-own", {AXIS: "own", BLOCK: "4 KiB"}),
        ("1-own-large", {AXIS: "own", BLOCK: "1 MiB"}),
    ]
    blocks = [cell.spec.load["offender"].block for cell in found.plan.cells]
    assert blocks[0] < 4096 < blocks[1]
    for known in (replace(slow, block_bytes=MIB), replace(slow, folio_bytes=4096), MACHINE):
        assert all(cell.levels.keys() == {AXIS} for cell in plan(known, SITE, given, [1]).plan.cells)


def test_a_disk_whose_driver_nobody_knows_is_tried_with_many_requests_at_a_time_and_with_one():
    queue = MachineQueue(requests=128, request_bytes=80 << 10, wbt_lat_usec=0)
    slow = replace(MACHINE, write_bps=4 * MIB, folio_bytes=2 * MIB, queue=queue, at_once=0)
    given = remedies(short={"queue": "2MiB"})
    found = plan(slow, SITE, given, [1]).plan.cells
    assert [(cell.name, cell.levels) for cell in found[4:]] == [
        ("1-short", {AXIS: "short", BLOCK: "4 KiB", REQUESTS: "many"}),
        ("1-short-large", {AXIS: "short", BLOCK: "1 MiB", REQUESTS: "many"}),
        ("1-short-one", {AXIS: "short", BLOCK: "4 KiB", REQUESTS: "one"}),
        ("1-short-large-one", {AXIS: "short", BLOCK: "1 MiB", REQUESTS: "one"}),
    ]
    assert [cell.spec.disk["disk"].driver for cell in found[4:]] == ["ubd", "ubd", "usb-storage", "usb-storage"]
    assert len({cell.spec.disk["disk"].queue["nr_requests"] for cell in found[4:]}) == 1
    cases = [said_of(cell.levels) for cell in found[:4]]
    assert (cases[0], cases[3]) == ("blocks of 4 KiB, many at a time", "blocks of 1 MiB, one at a time")
    assert unknown_in(cases) == ["in which blocks copies write there", "how many requests the disk takes at once"]
    assert not any("a short queue helps less" in note for note in plan(slow, SITE, given, [1]).twin.notes)
    known = replace(slow, block_bytes=MIB)
    assert len(plan(known, SITE, given, [1]).plan.cells) == 4
    for machine in (replace(known, at_once=2), replace(known, queue=replace(queue, driver="sata"))):
        assert all(cell.levels.keys() == {AXIS} for cell in plan(machine, SITE, given, [1]).plan.cells)


def test_limits_that_one_large_write_passes_are_left_out():
    sizes = {"memory_bytes": 600 * MIB, "dirty_bytes": 100 * MIB, "background_bytes": 50 * MIB}
    slow = replace(MACHINE, write_bps=4 * MIB, folio_bytes=2 * MIB, block_bytes=MIB, **sizes)
    given = remedies(low={"dirty": "1s"}, higher={"dirty": "2s"}, own={"own_limit": "50% of the limit"})

    def left_out(machine):
        return plan(machine, SITE, given, [1]).left_out

    assert left_out(slow) == {"low": "one write of 1 MiB passes it; a twin was not right about that"}
    assert left_out(replace(slow, block_bytes=0)).keys() == {"low"}
    for other in ({"block_bytes": 4096}, {"folio_bytes": 4096}, {"write_bps": 6 * MIB}):
        assert not left_out(replace(slow, **other))


def test_the_scale_of_the_twin_keeps_limits_above_some_pages():
    small = replace(MACHINE, dirty_bytes=8 * MIB)
    assert fine_factor(MACHINE, [MACHINE]) == 81  # as in any twin of this machine
    assert fine_factor(MACHINE, [small]) == 25  # the twin writes 192 MiB
    assert fine_factor(replace(MACHINE, offender_bytes=MIB), [small]) == 8  # and its dirty limit is 1 MiB
    assert fine_factor(MACHINE, [replace(MACHINE, dirty_bytes=32 * MIB)]) == 32  # its dirty limit is 1 MiB
    short = MachineQueue(requests=4, request_bytes=128 << 10, wbt_lat_usec=0)
    assert fine_factor(MACHINE, [replace(MACHINE, queue=short)]) == 32  # its requests are a page


def test_limits_of_a_few_pages_are_left_out():
    found = plan(MACHINE, SITE, remedies(low={"dirty": "1MiB"}, short={"nr_requests": 4}), [1])
    assert found.left_out == {"low": "leaves too few dirty pages in the scaled-down twin to try it"}


def test_remedies_without_effect_and_duplicates_are_left_out():
    given = remedies(a={"nr_requests": 8}, b={"queue": "100ms"}, c={"nr_requests": 256}, d={"scheduler": "kyber"})
    found = plan(MACHINE, SITE, given, [1])
    assert found.left_out == {
        "b": "has the same effect as a on this machine",
        "c": "changes nothing: this machine's value is that low already",
        "d": "the disk has no scheduler kyber, only bfq, mq-deadline, none: try modprobe kyber",
    }


def test_a_machine_without_a_possible_remedy_is_refused():
    with pytest.raises(InputError, match="no remedy can be tried here: c: changes nothing"):
        plan(MACHINE, SITE, remedies(c={"nr_requests": 256}), [1])


@pytest.mark.parametrize(
    ("changes", "remedy", "reason"),
    [
        ({"schedulers": ()}, {"scheduler": "bfq"}, "no scheduler bfq, only none"),
        ({"disks": ()}, {"nr_requests": 4}, "has no request queue"),
        ({"disks": ()}, {"queue": "1s"}, "has no request queue"),
        ({"abilities": ()}, {"wbt": "75ms"}, "no WBT"),
        ({"abilities": ("wbt",)}, {"own_limit": "1s"}, "no strict_limit"),
        ({"controllers": ("memory",)}, {"io_max": "80%"}, "has no io controller"),
        ({"controllers": ()}, {"memory_high": "1s"}, "has no memory controller"),
        ({}, {"memory_high": "1s", "io_max": "80%"}, ""),
    ],
)
def test_remedies_impossible_on_the_machine_are_reported(changes, remedy, reason):
    said = impossible(remedies(it=remedy)["it"], replace(SITE, **changes))
    assert reason in said if reason else not said


def test_a_queue_that_the_driver_keeps_short_is_left_to_it():
    stick = replace(MACHINE, queue=MachineQueue(requests=2, request_bytes=1 << 20, wbt_lat_usec=0))
    assert list(map(str, differing(stick, replace(stick, scheduler="bfq")))) == ["scheduler=bfq"]


def test_another_scheduler_gets_the_tried_queue():
    wanted = differing(MACHINE, replace(MACHINE, scheduler="bfq"))
    assert wanted == [WantedSetting("queue", "scheduler", "bfq"), WantedSetting("queue", "nr_requests", "256")]


def test_a_queue_in_bytes_sets_the_size_of_requests_where_their_number_is_not_enough():
    found = remedies(short={"queue": "512KiB"}, long={"queue": "20MiB"}, four={"nr_requests": 4})
    wanted = {name: list(map(str, differing(MACHINE, remedy.on(MACHINE)))) for name, remedy in found.items()}
    assert wanted == {
        "short": ["nr_requests=4", "max_sectors_kb=128"],
        "long": ["nr_requests=16"],
        "four": ["nr_requests=4"],
    }


def test_thresholds_are_set_in_bytes_and_times_in_their_units():
    then = replace(MACHINE, dirty_bytes=MIB, timers=MACHINE.timers | {"vm.dirty_expire_centisecs": 100})
    assert list(map(str, differing(MACHINE, then))) == ["vm.dirty_bytes=1048576", "vm.dirty_expire_centisecs=100"]


def test_a_machine_without_a_queue_can_have_a_twin():
    bare = replace(MACHINE, queue=None, scheduler="", timers={})
    found = plan(bare, replace(SITE, disks=(), schedulers=(), abilities=()), read_remedies(), [1])
    assert {"queue-512kib", "bfq", "wbt", "own-limit-1s"} <= found.left_out.keys()
    assert "dirty-1s" in {item.name for item in found.candidates}


def test_the_queue_of_a_fast_disk_fits_the_guest():
    queue = MachineQueue(requests=1023, request_bytes=128 << 10, wbt_lat_usec=2000)
    fast = replace(MACHINE, queue=queue, scheduler="none", write_bps=3000 * MIB, memory_bytes=64 << 30)
    found = plan(fast, SITE, read_remedies(), [1])
    assert "nr_requests" not in found.plan.cells[0].spec.disk["disk"].queue  # it has the driver's 64
    assert any("the twin's queue holds" in note for note in found.twin.notes)
