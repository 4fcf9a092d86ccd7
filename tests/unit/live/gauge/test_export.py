"""Exported texts, and where they go."""

import os
import stat
import threading
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.waiting import wait_until

from wblab.core.errors import InputError
from wblab.live.gauge import PORT
from wblab.live.gauge.catalogue import DIRTY, METRICS, SOURCES, THROTTLED
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.export import Address, TextFile, address_of, answering


def read(text):
    """Return the values in a text, by name and labels."""
    families = text_string_to_metric_families(text)
    return {(item.name, tuple(item.labels.values())): item.value for family in families for item in family.samples}


@pytest.fixture
def counts():
    found = Counts()
    found.put(DIRTY, 4096)
    found.add(THROTTLED, 1_500_000_000, 'a "disk"\n')
    return found


EXPECTED = {("wblab_dirty_bytes", ()): 4096, ("wblab_dirty_throttled_seconds_total", ('a "disk"\n',)): 1.5}


def test_names_follow_the_conventions_and_help_names_a_file_of_the_kernel():
    for metric in METRICS:
        assert metric.name.startswith("wblab_")
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert metric.source in SOURCES
        assert metric.source == "gauge" or "(" in metric.about or "gauge" in metric.about or "looks" in metric.about
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_values_are_answered_over_http_on_this_machine_alone(counts):
    before = threading.active_count()
    with answering(counts, Address(port=0)) as url:
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url) as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert read(text) == EXPECTED
    assert "# TYPE wblab_dirty_throttled_seconds_total counter" in text
    assert f"# HELP wblab_dirty_bytes {DIRTY.about}" in text
    assert threading.active_count() == before


def test_a_port_that_is_taken_is_refused(counts):
    with answering(counts, Address(port=0)) as url:
        port = int(url.split(":")[2].split("/")[0])
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use: give"):
            answering(counts, Address(port=port)).__enter__()


@pytest.mark.parametrize(
    ("text", "address", "is_loopback"),
    [
        ("9644", Address("127.0.0.1", PORT), True),
        ("localhost:1", Address("localhost", 1), True),
        ("0.0.0.0:0", Address("0.0.0.0", 0), False),
        ("[::1]:80", Address("::1", 80), True),
        ("10.0.0.1:80", Address("10.0.0.1", 80), False),
    ],
)
def test_an_address_is_a_port_with_or_without_a_host(text, address, is_loopback):
    assert address_of(text) == address
    assert address.is_loopback == is_loopback


@pytest.mark.parametrize("text", ["", "http", "65536", "-1", "1.2.3.4", "::1:80", "a:b", "127.0.0.1:", "1:2:3", "٣"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError, match="is no address: give a port such as 9644"):
        address_of(text)


def test_a_file_is_replaced_as_a_whole_readable_by_all_and_removed_at_the_end(counts, tmp_path):
    path = tmp_path / "wblab.prom"
    path.write_text("old")
    kept = path.open()
    before = os.umask(0o077)
    try:
        file = TextFile(counts, path)
    finally:
        os.umask(before)
    assert read(path.read_text()) == EXPECTED
    assert kept.read() == "old"  # whoever reads the old one has all of it
    kept.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    counts.put(DIRTY, 8192)
    file.write()
    wait_until(lambda: "wblab_dirty_bytes 8192" in path.read_text())
    assert list(tmp_path.iterdir()) == [path]
    file.end(60)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_gauge_left_half_written_is_removed(counts, tmp_path):
    (tmp_path / ".wblab.prom.0123456789abcdef.partial").touch()
    (tmp_path / ".other.prom.0123456789abcdef.partial").touch()
    TextFile(counts, tmp_path / "wblab.prom").end(60)
    assert [path.name for path in tmp_path.iterdir()] == [".other.prom.0123456789abcdef.partial"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wblab.txt", "reads only files that end in .prom"),
        (".prom", "reads only files that end in .prom"),
        ("missing/wblab.prom", "No such file or directory: give another file"),
        ("directory.prom", "directory.prom: .*: give another file"),
    ],
)
def test_a_file_that_cannot_serve_is_refused(counts, tmp_path, name, words):
    (tmp_path / "directory.prom").mkdir()
    with pytest.raises(InputError, match=words):
        TextFile(counts, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["directory.prom"]


def test_a_later_failure_is_noted_and_ends_nothing(counts, tmp_path):
    place = tmp_path / "collected"
    place.mkdir()
    file = TextFile(counts, place / "wblab.prom")
    place.rename(tmp_path / "away")
    file.write()
    wait_until(lambda: file.failure == "No such file or directory")
    place.mkdir()
    file.write()
    wait_until(lambda: not file.failure)
    file.end(60)
