import pytest

from wblab.live.monitor.samples import (
    Batch,
    CacheState,
    End,
    Pressure,
    SampleSource,
    Throttled,
    Waited,
    Worked,
    WrittenSample,
    line,
    parse,
)

BATCH = Batch(
    2_000_000_000,
    states=(CacheState(1_950_000_000, 5 << 20, 1 << 20, 10 << 20, 20 << 20, 27 << 20), CacheState(1, 2, 3, 4, 5)),
    throttled=(Throttled(1_960_000_000, "l1 ü", 200_000_000, "slow"), Throttled(1, "l2", 2)),
    waits=(Waited("probe", 1_900_000_000, 2_000_000_000, over=False),),
    pressures=(Pressure(2_000_000_000, 100_000_000, 40_000_000, 0),),
    writers=(WrittenSample(2_000_000_000, 1_000_000_000, "dd", 80 << 20, "sda, sdb"),),
    disks=(Worked(2_000_000_000, 1_000_000_000, "sda", 80 << 20, 900_000_000), Worked(2, 1, "slow", 5)),
    lost=3,
)


@pytest.mark.parametrize(
    "item", [SampleSource("a guest", 0, "only root may trace"), BATCH, Batch(7), End("over"), End("dead", failed=True)]
)
def test_a_line_has_the_whole_item(item):
    text = line(item)
    assert text.endswith(b"\n")
    assert text.count(b"\n") == 1
    assert parse(text) == item


def test_a_line_of_a_version_without_disks_is_read():
    old = b'{"batch":{"now_ns":1,"writers":[{"at_ns":1,"span_ns":1,"task":"dd","written":4096}],"lost":0}}'
    assert parse(old) == Batch(1, writers=(WrittenSample(1, 1, "dd", 4096),))


def test_a_terminal_may_have_changed_the_end_of_a_line():
    assert parse(line(BATCH).replace(b"\n", b"\r\n")) == BATCH


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b'"batch"',
        b'{"batch":{}}',
        b'{"batch":{"now_ns":1,"states":[{}]}}',
        b'{"batch":{"now_ns":1,"states":[7]}}',
        b'{"other":{}}',
        b'{"batch":{"now_ns":1},"end":{}}',
        line(BATCH)[:-20],
        b"\xff",
    ],
)
def test_an_invalid_line_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - also JSON's own
        parse(text)
