from dataclasses import replace

import pytest
from support.advised import MACHINE, MIB

from wblab.core.errors import InputError
from wblab.live.advise.remedies import in_bytes, joined, parse_remedies, read_remedies, share
from wblab.live.disks.queue import MachineQueue
from wblab.live.twin.described import OffenderLimits

LOWER = {"dirty_bytes": 800 * MIB, "background_bytes": 400 * MIB}
WBT = {"about": "", "wbt": "1ms"}


def remedy(name="it", **given):
    return parse_remedies({name: {"about": name, **given}}, {})[name]


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"dirty": "500ms", "background": "250ms"}, {"dirty_bytes": 50 * MIB, "background_bytes": 25 * MIB}),
        ({"dirty": "500ms"}, {"dirty_bytes": 50 * MIB, "background_bytes": 25 * MIB}),  # as the kernel does
        ({"dirty": "64MiB"}, {"dirty_bytes": 64 * MIB, "background_bytes": 32 * MIB}),
        ({"dirty": "5%"}, {"dirty_bytes": 409 * MIB, "background_bytes": 409 * MIB // 2}),
        ({"background": "100ms"}, {"background_bytes": 10 * MIB}),
        ({"dirty": "1us"}, {"dirty_bytes": MIB, "background_bytes": MIB // 2}),
        ({"nr_requests": 4}, {"queue": MachineQueue(requests=4, request_bytes=1280 << 10, wbt_lat_usec=0)}),
        ({"queue": "512KiB"}, {"queue": MachineQueue(requests=4, request_bytes=128 << 10, wbt_lat_usec=0)}),
        ({"queue": "125ms"}, {"queue": MachineQueue(requests=9, request_bytes=1280 << 10, wbt_lat_usec=0)}),
        ({"wbt": "75ms"}, {"queue": MachineQueue(requests=256, request_bytes=1280 << 10, wbt_lat_usec=75_000)}),
        ({"scheduler": "bfq"}, {"scheduler": "bfq"}),
        ({"own_limit": "800ms"}, {"own_limit": 50_000}),  # 80 of 1600 MiB
        ({"own_limit": "800ms", "dirty": "8s"}, LOWER | {"own_limit": 100_000}),
        ({"memory_high": "2s"}, {"group": OffenderLimits(memory_high=200 * MIB)}),
        ({"io_max": "80%"}, {"group": OffenderLimits(io_max_bps=80 * MIB)}),
        ({"scheduler": "bfq", "io_weight": 10}, {"scheduler": "bfq", "group": OffenderLimits(io_weight=10)}),
    ],
)  # fmt: skip
def test_a_remedy_changes_the_machine(given, changed):
    assert remedy(**given).on(MACHINE) == replace(MACHINE, **changed)


def test_timers_are_given_as_times():
    timers = remedy(expire="5s", period="1s").on(MACHINE).timers
    assert timers == {"vm.dirty_expire_centisecs": 500, "vm.dirty_writeback_centisecs": 100}


def test_a_remedy_never_raises_a_limit():
    low = replace(
        MACHINE, dirty_bytes=8 * MIB, background_bytes=4 * MIB, own_limit=10, timers={"vm.dirty_expire_centisecs": 1}
    )
    low = replace(low, queue=MachineQueue(requests=2, request_bytes=4096, wbt_lat_usec=0))
    given = {"dirty": "1s", "background": "1s", "own_limit": "10s", "nr_requests": 4, "expire": "1s"}
    assert remedy(**given).on(low) == low


def test_bfq_disables_wbt():
    queue = MachineQueue(requests=256, request_bytes=1280 << 10, wbt_lat_usec=75_000)
    changed = remedy(scheduler="bfq").on(replace(MACHINE, queue=queue)).queue
    assert changed == replace(queue, wbt_lat_usec=0)


def test_a_machine_without_a_queue_gets_none():
    assert remedy(nr_requests=4).on(replace(MACHINE, queue=None)).queue is None


def test_two_remedies_together_set_both():
    table = {
        "short": {"about": "a", "nr_requests": 4},
        "low": {"about": "b", "dirty": "1s"},
        "both": {"about": "c", "together": ["short", "low"]},
    }
    both = parse_remedies(table, {})["both"]
    assert (both.nr_requests, both.dirty, both.about) == (4, "1s", "c")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"it": {"about": ""}}, "it sets nothing"),
        ({"it": {"about": "", "nr_request": 4}}, "did you mean 'nr_requests'"),
        ({"it": {"nr_requests": 4}}, "'it.about' is missing"),
        ({"it": 4}, "'it' must be a table"),
        ({"now": {"about": "", "nr_requests": 4}}, "not a valid name"),
        ({"../it": {"about": "", "nr_requests": 4}}, "not a valid name"),
        ({"it": {"about": "", "nr_requests": 2}}, "the kernel's minimum is 4"),
        ({"it": {"about": "", "nr_requests": 4, "queue": "1s"}}, "both set the queue's length"),
        ({"it": {"about": "", "scheduler": "cfq"}}, "it.scheduler"),
        ({"it": {"about": "", "scheduler": "bfq", "wbt": "75ms"}}, "bfq turns WBT off"),
        ({"it": {"about": "", "io_max": "80MiB"}}, "not a share of the disk's rate"),
        ({"it": {"about": "", "io_weight": 10}}, "it needs bfq"),
        ({"it": {"about": "", "scheduler": "bfq", "io_weight": 1001}}, "not between 1 and 1000"),
        ({"it": {"about": "", "together": ["that"]}}, "no remedy 'that' above it"),
        (
            {"a": WBT, "b": WBT, "it": {"about": "", "together": ["a", "b"]}},
            "two of these remedies set 'wbt'",
        ),
        ({"a": {"about": "", "wbt": "1ms"}, "it": {"about": "", "wbt": "2ms", "together": ["a"]}}, "already sets"),
    ],
)  # fmt: skip
def test_an_invalid_remedy_is_refused_with_the_reason(table, message):
    with pytest.raises(InputError, match=message):
        parse_remedies(table, {})


def test_the_lab_s_remedies_are_valid_and_have_an_effect():
    late = replace(
        MACHINE, background_bytes=1200 * MIB
    )  # with the usual threshold, half of the limit would change nothing
    for name, each in read_remedies().items():
        assert each.about, name
        assert each.on(late) != late, name


def test_shares_refer_to_the_limit_that_is_set_with_them():
    assert remedy(dirty="1s", background="25% of the limit").on(MACHINE).background_bytes == 25 * MIB
    both = joined(remedy("low", dirty="1s"), remedy("own", own_limit="50% of the limit"))
    assert both is not None
    assert both.on(MACHINE).own_limit == 500_000
    assert remedy(background="50% of the limit").on(MACHINE) == MACHINE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"nr_requests": 4}, {"nr_requests": 8}),
        ({"nr_requests": 4}, {"queue": "1s"}),
        ({"dirty": "1s", "background": "500ms"}, {"background": "1s"}),
        ({"scheduler": "bfq"}, {"scheduler": "bfq", "io_weight": 10}),
        ({"scheduler": "bfq"}, {"wbt": "75ms"}),
    ],
)
def test_conflicting_remedies_are_not_combined(one, other):
    assert joined(remedy("a", **one), remedy("b", **other)) is None


def test_a_combined_remedy_has_both_names():
    both = joined(remedy("a", nr_requests=4), remedy("b", dirty="1s"))
    assert both is not None
    assert (both.name, both.about, both.nr_requests, both.dirty) == ("a+b", "a, and b", 4, "1s")


def test_files_are_read_in_order_and_names_are_unique(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.toml").write_text('["it"]\nabout = "x"\nnr_requests = 4\n')
    with pytest.raises(InputError, match=r"b\.toml: 'it' names two remedies"):
        read_remedies(sorted(tmp_path.glob("*.toml")))
    with pytest.raises(InputError, match="cannot read the remedies"):
        read_remedies([tmp_path / "c.toml"])
    (tmp_path / "c.toml").write_text("[")
    with pytest.raises(InputError, match="is not a TOML file"):
        read_remedies([tmp_path / "c.toml"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("500ms", 50 * MIB),  # of 100 MiB/s
        ("1 s", 100 * MIB),
        ("0.5s", 50 * MIB),
        ("128us", 12 << 10),  # small amounts are whole pages
        ("123ms", 12 * MIB),  # others are whole MiB
        ("5%", 409 * MIB),
        ("2.5 %", 204 * MIB),
        ("1% of the limit", 16 * MIB),  # of 1600 MiB
        ("0.111 % of the limit", 454 << 12),  # rounded to whole pages
        ("64MiB", 64 * MIB),
        ("67108864", 64 * MIB),
    ],
)
def test_an_amount_is_relative_to_the_disk_or_to_memory_or_absolute(text, found):
    assert in_bytes(text, MACHINE) == found


@pytest.mark.parametrize("text", ["", "fast", "5 %%", "-1s", "1 fortnight"])
def test_an_invalid_amount_is_refused_with_examples(text):
    with pytest.raises(InputError, match="write for example"):
        in_bytes(text, MACHINE)


def test_a_share_has_limits():
    assert (share("80%"), share("80")) == (0.8, None)
    for text in ("0%", "101%"):
        with pytest.raises(InputError, match="not a percentage"):
            share(text)
