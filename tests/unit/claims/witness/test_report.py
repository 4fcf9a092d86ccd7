"""What a finding's statements and a work's claim come to on several substrates, as reports."""

import json
from pathlib import Path

import pytest
from support.reports import cells, tables

from wblab.analysis.runs.run import Run, own_machine
from wblab.claims.outside import OfStudy, Seen
from wblab.claims.sources.claim import Claim
from wblab.claims.witness.report import claim_report, differences, queue_words, statements_report, titles
from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.statement import Effect, Verdict
from wblab.substrates.qemu.command import in_bytes

W1 = {"study": "base", "page": "docs/findings/some.md", "loads": ("w1",)}
STALLED = OfStudy(text="w1 is stalled", are="stalled", **W1)
SHORT = OfStudy(text="a short queue helps", shorter="long", **W1)


def seen(name, *values_s, others_s=()):
    verdict = (SHORT if others_s else STALLED).judge(values_s, others_s)
    return Seen(name, "7.2.11", verdict, values_s)


@pytest.fixture
def of_statements():
    stalled = {"7.2": seen("7.2", 1.0, 2.0), "stock:7.2": seen("stock:7.2", 3.0, 4.0)}
    shorter = {"7.2": seen("7.2", 5.0, 5.0, others_s=(9.0, 9.0)), "stock:7.2": None}
    return statements_report("Some finding", [(STALLED, stalled), (SHORT, shorter)], {"base": {"directory": "exp/1"}})


def test_each_statement_heads_what_each_place_says(of_statements):
    (table,) = tables(of_statements)
    assert of_statements.headline == "1 of 2 statements hold in every run, in every place."
    assert [row for row in table.rows if isinstance(row, str)] == [STALLED.text, SHORT.text]
    assert cells(table) == [
        ["7.2", "in every run", "1.50 s (1.00 to 2.00)"],
        ["stock:7.2", "in every run", "3.50 s (3.00 to 4.00)"],
        ["7.2", "in no run", "5 s"],
        ["stock:7.2", "no run succeeded", "-"],
    ]


def test_programs_read_the_statements_and_the_studies(of_statements):
    said = json.loads(json.dumps(of_statements.to_json()))
    first, second = said["statements"]
    assert first["on"]["7.2"] == {"holds": "in every run", "longest_pause_s": [1.0, 2.0]}
    assert second["on"]["stock:7.2"] is None
    assert said["studies"] == {"base": {"directory": "exp/1"}}


def test_a_claim_has_a_figure_or_a_reason_on_each_place():
    effect = Effect("mw1's time in openat", "%", (50.0, 60.0), 55.0, 50.0, 60.0, "range")
    verdicts = {"7.2": Verdict("reproduced", "it was", effect), "6.1": Verdict("not testable", "no such device")}
    found = claim_report(Claim("openat", "mw1 is blocked in openat", "the thesis", ("base",), lambda _: None), verdicts)
    (table,) = tables(found)
    assert "".join(str(getattr(part, "text", part)) for part in found.headline) == (
        "mw1 is blocked in openat: 1 reproduced, 1 not testable"
    )
    assert cells(table) == [
        ["7.2", "reproduced", "55 % (50 to 60)", "mw1's time in openat"],
        ["6.1", "not testable", "", "no such device"],
    ]
    said = json.loads(json.dumps(found.to_json()))
    assert said["on"]["7.2"]["figure"] == {"what": "mw1's time in openat", "unit": "%", "values": [50.0, 60.0]}
    assert said["on"]["6.1"]["figure"] is None


MIB = 1 << 20
SLOW, FAST = "live:slow=/a,fast=/b", "live+limits:slow=/a,fast=/b"


def place(directory, device="sda", has_device=True):
    return {
        "directory": directory,
        "device": device,
        "has_device": has_device,
        "filesystem": "ext4",
        "mount_options": [],
        "scheduler": "none",
    }


def run(limits_set=False, **changes):
    machine = {
        "processors": 2,
        "memory_bytes": 8 << 30,
        "disks": {"slow": place("/a"), "fast": place("/b", "sdb")},
        "shared_disks": [],
        "own_thresholds": {"dirty": 1024 * MIB, "background": 512 * MIB},
        "limits_set": limits_set,
        "traffic": {"slow": {"written_bytes": 40 * MIB, "most_written_per_s": 3 * MIB}, "fast": None},
    }
    spec = in_bytes(read_spec(SPECS.find("two-disks"), ["disk.slow.queue.nr_requests=4"]))
    return Run(Path("x"), {"kernel": {"release": "6.18"}, "machine": machine | changes}, spec, ())


def test_it_names_kernel_memory_disks_and_limits():
    assert differences(SLOW, run()) == [
        "Linux 6.18, 8 GiB of memory; the spec has 100 MiB",
        "/a: ext4 on sda, scheduler none, wrote up to 3 MiB/s; the spec has ext4, scheduler mq-deadline, 1 MiB/s",
        "/b: ext4 on sdb, scheduler none; the spec has ext4, scheduler mq-deadline, 20 MiB/s",
        "dirty limits: 1 GiB, background 512 MiB; the spec has 10 MiB, background 5 MiB",
        "These limits decide who stalls. To compare, set the spec's during each run, as root: "
        "--on live+limits:slow=/a,fast=/b",
        "not set on this machine: disk.slow.queue.nr_requests=4",
    ]


def test_with_the_specs_limits_it_says_that_they_were_set_and_that_they_are_not_now():
    (limits,) = (line for line in differences(FAST, run(limits_set=True)) if line.startswith("dirty"))
    assert limits == (
        "dirty limits: 10 MiB, background 5 MiB, the spec's, only during each run; the machine's own are 1 GiB, "
        "background 512 MiB"
    )


def test_a_disk_that_wrote_nothing_explains_why_nobody_stalled():
    traffic = {"slow": {"written_bytes": MIB, "most_written_per_s": 99}, "fast": None}
    assert "wrote almost nothing yet when the run ended" in differences(SLOW, run(traffic=traffic))[1]


def test_disks_that_share_one_below_and_those_on_none_are_named():
    said = differences(SLOW, run(shared_disks=["vda"], disks={"slow": place("/a", "nfs", False), "fast": place("/b")}))
    assert "the disks are not independent: both are on vda and share its rate" in said
    assert "/a is on no block device: what its limits and queue are is not known" in said


@pytest.mark.parametrize("changes", [{"disks": 5}, {"disks": {"no": {}}}, {"own_thresholds": {}}, {"traffic": []}])
def test_a_damaged_record_is_named(changes):
    with pytest.raises(InputError, match="is damaged"):
        differences(SLOW, run(**changes))


def test_a_run_elsewhere_is_no_machines():
    assert own_machine(Run(Path("x"), {"machine": {"emulator": "qemu"}}, run().spec, ())) is None
    assert own_machine(Run(Path("x"), {}, run().spec, ())) is None


def emulated(queues):
    return Run(Path("x"), {"machine": {"emulator": "qemu", "queues": queues}}, run().spec, ())


def test_the_queues_of_a_stock_kernels_disks_are_named():
    slow = {"device": "sdb", "nr_requests": 64, "max_sectors_kb": 4096, "scheduler": "none [mq-deadline]"}
    fast = slow | {"device": "nullb0", "nr_requests": 2, "wbt_lat_usec": 0}
    assert queue_words(emulated({"slow": slow | {"wbt_lat_usec": 75000}, "fast": fast, "third": slow})) == [
        "slow, sdb: 64 requests of 4096 KiB (256 MiB), scheduler none [mq-deadline], WBT 75 ms",
        "fast, nullb0: 2 requests of 4096 KiB (8 MiB), scheduler none [mq-deadline], WBT off",
        "third, sdb: 64 requests of 4096 KiB (256 MiB), scheduler none [mq-deadline], no WBT",
    ]
    assert queue_words(run()) == []
    with pytest.raises(InputError, match="is damaged"):
        queue_words(emulated({"slow": {}}))


def test_directories_are_not_in_the_table_while_names_are_distinct():
    assert titles(["7.2", SLOW, FAST]) == {"7.2": "7.2", SLOW: "live", FAST: "live+limits"}
    assert titles([SLOW, "live:/c"]) == {SLOW: SLOW, "live:/c": "live:/c"}
