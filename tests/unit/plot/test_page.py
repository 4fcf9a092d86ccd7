import asyncio
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from support import pictured
from support.browser import browser

from wblab import cli
from wblab.analysis.runs.pagecache import DirtyState, Throttling
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, Window
from wblab.core.errors import InputError, WblabError
from wblab.plot.page import page as page_of
from wblab.plot.page import save_page
from wblab.plot.picture import picture as picture_of
from wblab.plot.style import INNOCENT, LOST, OFFENDERS
from wblab.plot.timeline import chosen, timeline

MS = 1_000_000
S = 1000 * MS
MIB = 1 << 20
MOST_BYTES = 1_000_000
LEANER = "a browser gets too much: a pane keeps only the points where something changes (wblab/plot/pagemarks.py)"
DRAWN = "document.getElementById('timeline').dataset.drawn === 'yes'"


def page(*of, **how):
    return page_of(timeline(*of, **how))


def traced(ts_ns, lost_ns=((2 * S, 3 * S),)):
    """A page cache with an event of each kind at each time."""
    count = len(ts_ns)
    rising = np.arange(count, dtype=np.int64) * MIB
    full = lambda value: np.full(count, value, np.int64)  # noqa: E731 - a column
    dirty = rising % (20 * MIB)
    state = DirtyState(ts_ns, full(10 * MIB), full(20 * MIB), full(25 * MIB), dirty, full(MIB))
    tasks = np.where(np.arange(count) % 2, "l1", "mw1").astype(object)
    rates = full(0) + np.arange(count) % 3 * (512 << 10)
    throttling = Throttling(
        ts_ns,
        full(7),
        tasks,
        np.arange(count) % 200 * MS,
        full(0),
        rates,
        full(MIB),
        *[full(MIB)] * 5,
        np.full(count, "", object),
    )
    counts = {"global_dirty_state": count, "balance_dirty_pages": count}
    dirtied = pictured.page_cache().dirtied
    shared = {"dirtied": dirtied, "lost_ns": lost_ns, "disks": {}}
    cache = SimpleNamespace(dirty_state=state, throttling=throttling, counts=counts, **shared)
    cache.times_ns = lambda name: ts_ns if name in cache.counts else ts_ns[:0]
    return cache


@pytest.fixture
def cache():
    return traced(np.arange(50, dtype=np.int64) * 150 * MS)


def pane(shown, name):
    return next(each for each in shown["panes"] if each["name"] == name)


def marks_of(shown_pane, kind):
    return [mark for mark in shown_pane["marks"] if mark["kind"] == kind]


def marks(shown, name, kind):
    return marks_of(pane(shown, name), kind)


def times_s(mark):
    """Return the times of a mark, which a page has as steps in µs."""
    return (np.cumsum(mark["x"]) / 1e6).tolist()


def test_the_panes_of_the_picture_with_its_titles_in_its_order(run, cache):
    for traced_cache, window in ((cache, None), (None, None), (cache, Window(0, 2 * S))):
        axes = picture_of(timeline(run, traced_cache, window=window)).axes
        shown = page(run, traced_cache, DEFAULT_BOUND_NS, window)
        assert [each["name"] for each in shown["panes"]] == [ax.get_title(loc="left") for ax in axes]
    assert pane(shown, "dirty state")["what"] == "of the page cache, against the thresholds"


def test_one_time_axis_for_all_panes(run, cache):
    assert page(run, cache)["shown"] == (0, 8)
    assert page(run, cache, window=Window(S, 2 * S))["shown"] == (1, 2)


def test_a_pause_is_known_by_its_cycle_and_told_to_those_who_do_not_see_it(run):
    shown = page(run)
    (blocks,) = marks(shown, "mail mw1", "Blocks")
    assert times_s(blocks) == pytest.approx([0, 0.1, 0.2, 1.7, 1.8])
    assert blocks["pauses"] == {2: 1.4}
    assert pane(shown, "mail mw1")["says"] == "1 pause over 300 ms of 1.40 s, in a cycle from 0.200 s."
    assert [each["text"] for each in marks(shown, "mail mw1", "Label")] == ["1.40 s"]
    assert blocks["colour"][0] == INNOCENT[1]
    assert marks(shown, "copy l1", "Blocks")[0]["colour"][0] == OFFENDERS[0]


def test_the_bound_is_the_caller_s(run):
    (blocks,) = marks(page(run, None, 2 * S), "mail mw1", "Blocks")
    assert blocks["pauses"] == {}


def test_a_heat_map_is_in_the_page_if_it_is_named(run):
    assert not [each for each in page(run)["panes"] if marks_of(each, "Counts")]
    shown = page_of(chosen(timeline(run), "heat"))["panes"][0]
    (cells,) = marks_of(shown, "Counts")
    assert sum(cells["cells"][2]) == sum(len(run.load(name).durations_ns) for name in ("w1", "mw1"))


def test_offenders_are_marked_on_every_pane_and_named_once(run, cache):
    shown = page(run, cache)
    (dashed,) = [mark for mark in shown["everywhere"] if mark["kind"] == "Rules"]
    assert (dashed["dashed"], times_s(dashed)) == (True, [5])
    assert [text for _, text in shown["starts"]] == ["copy l1 starts"]


def test_spans_of_lost_events_are_shaded_and_explained(run, cache):
    shown = page(run, cache)
    (spans,) = [mark for mark in shown["everywhere"] if mark["kind"] == "Spans"]
    assert (spans["colour"][0], times_s(spans)) == (LOST, [2, 3])
    assert "events lost" in [meaning["text"] for meaning in shown["meanings"]]
    cache.lost_ns = ()
    assert "events lost" not in [meaning["text"] for meaning in page(run, cache)["meanings"]]


def test_cycles_are_lines_on_every_pane_of_a_close_up(run, cache):
    lines = [mark for mark in page(run, cache, window=Window(0, S))["everywhere"] if mark["colour"][0] in INNOCENT]
    assert lines
    assert not [mark for mark in page(run, cache)["everywhere"] if mark["colour"][0] in INNOCENT]


def test_each_colour_of_all_panes_belongs_to_an_entry_of_the_page_s_legend(run):
    shown = page(run)
    entries = {meaning["group"]: meaning for meaning in shown["meanings"]}
    assert [each["text"] for each in entries.values()] == [
        "cycles of an innocent load",
        "cycles of an offender",
        "paused for over 300 ms",
    ]
    for each in shown["panes"]:
        for mark in each["marks"]:
            if mark["kind"] == "Blocks":
                assert mark["colour"] in entries[mark["group"]]["colours"]


def test_dirty_state_in_mib_with_words(run, cache):
    shown = page(run, cache)
    assert pane(shown, "dirty state")["legend"] == [
        "dirty",
        "+ writeback",
        "dirty limit",
        "dirty threshold",
        "background threshold",
    ]
    (stack,) = marks(shown, "dirty state", "Stack")
    dirty, writeback = stack["layers"]
    assert (dirty["y"][-1], set(writeback["y"])) == (49 % 20, {1})
    limit = marks(shown, "dirty state", "Line")[0]
    assert set(limit["y"]) == {25}
    assert limit["words"] == "{name}: {value:.2f} MiB"


def test_rate_limits_say_the_real_rate_and_0_is_on_the_edge(run, cache):
    points = marks(page(run, cache), "rate limits", "PointMarks")
    assert {mark["name"] for mark in points} == {"l1", "mw1"}
    for mark in points:
        assert set(mark["said"]) == {0, 512, 1024}
        assert set(mark["y"]) == {262100, 524300, 1049000}  # four digits


def test_a_span_without_events_has_an_empty_pane(run):
    shown = page(run, traced(np.array([6 * S, 7 * S], np.int64)), window=Window(0, S))
    assert pane(shown, "events")["marks"] == []


class Links(HTMLParser):
    """Collects what a browser would load."""

    def __init__(self):
        super().__init__()
        self.loaded, self.title, self._in_title = [], "", False

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title"
        self.loaded += [value for name, value in attrs if name in ("src", "href", "data", "srcset", "action")]

    def handle_data(self, data):
        if self._in_title:
            self.title += data.strip()


def test_file_loads_nothing_and_is_named_after_the_run(run, cache, tmp_path):
    path = tmp_path / "a.html"
    save_page(timeline(run, cache), path)
    content = path.read_text()
    links = Links()
    links.feed(content)
    assert [link for link in links.loaded if link != "data:,"] == []
    assert links.title == f"{run.path.name}: timeline"
    assert "default-src 'none'" in content


def test_why_a_run_failed_is_text_and_no_markup(run, tmp_path):
    failed = replace(run, record=run.record | {"outcome": "failed", "reason": "disk </script> full " + 40 * "word "})
    save_page(timeline(failed), tmp_path / "a.html")
    assert "disk &lt;/script&gt; full" in (tmp_path / "a.html").read_text()


SEEN = """(() => {
  const text = (name) => timeline.panes.find((pane) => pane.name === name).said.innerText;
  const found = {
    heads: [...document.querySelectorAll("h1, h2")].map((head) => head.firstChild.textContent.trim()),
    shown: [timeline.from, timeline.to],
    wide: document.documentElement.scrollWidth - innerWidth,
    loaded: performance.getEntriesByType("resource").length,
    buttons: [...document.querySelectorAll(".bar button")].map((button) => button.textContent),
  };
  for (const name of ["mail mw1", "dirty state"]) {
    timeline.panes.find((pane) => pane.name === name).move(0.5);
    found[name] = text(name);
  }
  const legend = [...document.querySelectorAll(".top .legend button")].at(-1);
  legend.click();
  found.hidden = [legend.textContent, legend.getAttribute("aria-pressed")];
  return found;
})()"""
KEYS = {"+": 187, "Home": 36, "ArrowRight": 39}


async def pressed(opened, key):
    text = {"text": key} if len(key) == 1 else {}
    await opened.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=KEYS[key], **text)
    await opened.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=KEYS[key])


def test_a_browser_shows_it_on_a_phone_to_a_mouse_and_to_keys(run, cache, tmp_path):
    cache.throttling.task[:] = "<b>x</b>"
    save_page(timeline(run, cache), tmp_path / "a.html")
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}

    async def seen():
        async with browser((tmp_path / "a.html").as_uri() + "#1-3") as opened:
            await opened.until(DRAWN)
            await opened.call("Emulation.setDeviceMetricsOverride", **phone)
            found = await opened.value(SEEN)
            await opened.value("document.querySelectorAll('.plot')[1].focus()")
            spans = []
            for key in ("+", "Home"):
                await pressed(opened, key)
                spans.append(await opened.value("timeline.to - timeline.from"))
            await pressed(opened, "ArrowRight")
            told = await opened.value("document.querySelector('[role=status]').textContent")
            return found, spans, told, opened.troubles

    found, spans, told, troubles = asyncio.run(seen())
    assert found["heads"][0] == f"{run.path.name}: timeline"
    assert found["heads"][1:4] == ["clock c1", "events", "dirty state"]
    assert (found["shown"], found["wide"], found["loaded"]) == ([1, 3], 0, 0)
    assert "mw1: paused for 1.4 s; full height is a cycle of 1.5 s, from 0.200 s" in found["mail mw1"]
    assert "dirty: 6.00 MiB, at 0.900 s" in found["dirty state"]
    assert "Longest pause" in found["buttons"]
    assert found["hidden"] == ["events lost", "false"]
    assert spans == pytest.approx([1, 8])
    assert told.startswith("at ")
    assert troubles == []


def test_saved_twice_it_is_the_same_file(run, cache, tmp_path):
    first, second = (tmp_path / f"{number}.html" for number in (1, 2))
    for path in (first, second):
        save_page(timeline(run, cache), path)
    assert first.read_bytes() == second.read_bytes()


def test_a_long_run_makes_a_file_that_a_browser_can_take(run, tmp_path):
    cycles, events = 100_000, 500_000  # of two kinds: a million
    rng = np.random.default_rng(1)
    last_ns = int(cycles * 20 * MS)
    durations_ns = np.where(rng.random(cycles) < 0.0005, 600 * MS, 20 * MS)
    paused = int((durations_ns == 600 * MS).sum())
    mw1 = replace(run.load("mw1"), boundaries_ns=np.append(0, np.cumsum(durations_ns)))
    l1 = replace(run.load("l1"), boundaries_ns=np.append(0, 5 * S + np.arange(cycles, dtype=np.int64) * 20 * MS))
    long = replace(run, loads=(run.load("c1"), mw1, l1))
    cache = traced(np.sort(rng.integers(0, last_ns, events)))
    cache.dirty_state.limit[:] = rng.integers(20 * MIB, 25 * MIB, events)  # the worst: each differs
    cache.throttling.base_rate[:] = rng.integers(MIB, 2 * MIB, events)
    drawn = timeline(long, cache)
    (blocks,) = marks(page_of(drawn), "mail mw1", "Blocks")
    expected = mw1.boundaries_ns[:-1][mw1.pauses_ns > DEFAULT_BOUND_NS] / 1e9
    times = times_s(blocks)
    assert [times[row] for row in blocks["pauses"]] == pytest.approx(expected, abs=0.001)
    assert len(expected) == paused
    path = tmp_path / "long.html"
    save_page(drawn, path)
    assert path.stat().st_size < MOST_BYTES, LEANER


def test_another_suffix_and_a_place_that_cannot_be_written(run, tmp_path):
    with pytest.raises(InputError, match=r"a\.png.*\.html"):
        save_page(timeline(run), tmp_path / "a.png")
    with pytest.raises(WblabError, match="cannot write"):
        save_page(timeline(run), tmp_path / "nowhere" / "a.html")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--format", "html"], "timeline.html"),
        (["--format", "html", "--from", "1s", "--to", "2s"], "timeline-1.00s-2.00s.html"),
        (["--format", "html", "--around", "mw1"], "timeline-0.00s-2.30s.html"),
        (["-o", "{run}/x.HTML"], "x.HTML"),
        (["--format", "html", "-o", "{run}/y.html"], "y.html"),
    ],
)
def test_command_writes_a_page(run, capsys, arguments, name):
    (run.path / "trace.dat").unlink(missing_ok=True)
    assert cli.main(["timeline", str(run.path), *(text.format(run=run.path) for text in arguments)]) == 0
    assert capsys.readouterr().out.strip() == str(run.path / name)
    assert (run.path / name).read_text().startswith("<!DOCTYPE html>")


def test_html_to_the_name_of_a_picture_is_refused_in_one_line(run, capsys):
    assert cli.main(["timeline", str(run.path), "--format", "html", "-o", str(run.path / "x.png")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--format html" in line
    assert not (run.path / "x.png").exists()
