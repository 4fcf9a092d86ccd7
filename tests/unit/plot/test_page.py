import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs
from support import pictured
from support.bars import BAR, buttons_of
from support.pictured import MW1

from wblab import cli
from wblab.analysis.runs.pagecache import DirtyState, Throttling
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, Window
from wblab.core.errors import InputError, WblabError
from wblab.plot.page import CONFIG, save_page
from wblab.plot.page import page as page_of
from wblab.plot.picture import picture as picture_of
from wblab.plot.style import INNOCENT, LOST, OFFENDERS, PAUSE
from wblab.plot.timeline import chosen, timeline, title

MS = 1_000_000
S = 1000 * MS
MIB = 1 << 20
MOST_BYTES = 15_000_000
LEANER = "a browser gets too much: a pane keeps only the points where something changes (wblab/plot/traces.py)"
BUTTON_NAMES = ["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]


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


def titles(figure):
    """The titles of the panes, from the top."""
    found = [item for item in figure.layout.annotations if item.text.startswith("<b>") and item.xref == "paper"]
    return [re.sub("<.*?>", "", item.text) for item in found]


def on_pane(figure, number):
    axis = "y" if number == 1 else f"y{number}"
    return [trace for trace in figure.data if trace.yaxis == axis]


def said(figure, name):
    """Return the hover texts of a load's steps: whether it paused, and since when."""
    (trace,) = [item for item in figure.data if item.name == name and item.text is not None]
    return trace, list(zip(trace.text[::2], np.round(trace.customdata[::2], 3).tolist(), strict=True))


def test_the_panes_of_the_picture_with_its_titles_in_its_order(run, cache):
    def of_picture(figure):
        whats = [next(text.get_text() for text in ax.texts) for ax in figure.axes]
        return [(ax.get_title(loc="left"), what) for ax, what in zip(figure.axes, whats, strict=True)]

    for traced_cache, window in ((cache, None), (None, None), (cache, Window(0, 2 * S))):
        picture = of_picture(picture_of(timeline(run, traced_cache, window=window)))
        shown = titles(page(run, traced_cache, DEFAULT_BOUND_NS, window))
        assert [text.split("  ")[0] for text in shown] == [name for name, _ in picture]
    assert titles(page(run, cache))[:3] == [
        "c1  only sleeps, 50 ms at a time: shows stalls of the machine itself",
        "events  per second, by type, in spans of 100 ms",
        "dirty state  of the page cache, against the thresholds",
    ]


def test_one_time_axis_for_all_panes(run, cache):
    figure = page(run, cache)
    assert {trace.xaxis or "x" for trace in figure.data} == {"x"}
    assert list(figure.layout.xaxis.range) == [0, 8]
    assert list(page(run, cache, window=Window(S, 2 * S)).layout.xaxis.range) == [1, 2]


def test_panes_do_not_overlap(run, cache):
    domains = [axis.domain for axis in page(run, cache).select_yaxes()]
    assert len(domains) > len(run.loads)  # a pane for each load, and some of the page cache
    assert domains[0][1] == pytest.approx(1)
    assert domains[-1][0] == pytest.approx(0)
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))


def test_a_pause_says_how_long_it_is_and_when_it_began(run):
    trace, steps = said(page(run), "mw1")
    assert steps == [("", 0), ("", 0.1), ("paused for 1.40 s; full height is a ", 0.2), ("", 1.7)]
    assert trace.hovertemplate.startswith("mw1: %{text}cycle of ")


def test_who_points_at_a_step_is_nearest_to_that_step(run):
    trace, _ = said(page(run), "mw1")
    edges_s = np.array(MW1) / 1e9
    for pointed_at_s in (0.01, 0.099, 0.101, 0.25, 1.1, 1.69, 1.71):
        nearest = np.abs(trace.x - pointed_at_s).argmin()
        assert trace.customdata[nearest] == edges_s[np.searchsorted(edges_s, pointed_at_s) - 1]


def test_pauses_stand_out_as_in_the_picture(run):
    cycles, pauses = (trace for trace in on_pane(page(run), 3) if trace.fill)
    assert (cycles.fillcolor, pauses.fillcolor) == (INNOCENT[1], PAUSE)
    assert pauses.x[:4].tolist() == [0.2, 0.2, 1.7, 1.7]
    assert pauses.y[:4].tolist() == pytest.approx([0, 0.4, 0.4, 0])
    assert [trace.fillcolor for trace in on_pane(page(run), 4) if trace.fill] == [OFFENDERS[0], PAUSE]
    assert "<b>1.40 s</b>" in [item.text for item in page(run).layout.annotations]


def test_the_bound_is_the_caller_s(run):
    _, steps = said(page(run, None, 2 * S), "mw1")
    assert not any(text for text, _ in steps)


def test_a_heat_map_is_in_the_page_if_it_is_named(run):
    assert not [trace for trace in page(run).data if isinstance(trace, go.Heatmap)]
    cells = [trace for trace in page_of(chosen(timeline(run), "heat")).data if isinstance(trace, go.Heatmap)]
    assert sum(np.nansum(trace.z) for trace in cells) == sum(len(run.load(name).durations_ns) for name in ("w1", "mw1"))


def test_offenders_are_marked_on_every_pane_and_named_once(run, cache):
    figure = page(run, cache)
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    assert {shape.path for shape in dashed} == {"M5.0,0V1"}
    assert len({shape.yref for shape in dashed}) == len(dashed) == len(titles(figure))
    assert [item.text for item in figure.layout.annotations if "starts" in item.text] == ["l1 starts"]


def test_spans_of_lost_events_are_shaded_and_explained(run, cache):
    figure = page(run, cache)
    spans = [shape for shape in figure.layout.shapes if shape.fillcolor == LOST]
    assert {shape.path for shape in spans} == {"M2.0,0V1H3.0V0Z"}
    assert len(spans) == len(titles(figure))
    assert "events lost" in [trace.name for trace in figure.data]
    cache.lost_ns = ()
    assert "events lost" not in [trace.name for trace in page(run, cache).data]


def test_cycles_are_lines_on_every_pane_of_a_close_up(run, cache):
    figure = page(run, cache, window=Window(0, S))
    lines = [shape for shape in figure.layout.shapes if shape.line.color in INNOCENT]
    assert {shape.yref for shape in lines} == {shape.yref for shape in figure.layout.shapes}
    assert not [shape for shape in page(run, cache).layout.shapes if shape.line.color in INNOCENT]


def test_colours_are_switched_on_all_panes_by_the_page_s_legend(run):
    figure = page(run)
    shown = {trace.name: trace for trace in figure.data if trace.x[0] is None}
    assert [re.sub("<.*?>", "", name) for name in shown] == [
        "■ cycles of an innocent load",  # its own square has the first innocent load's colour
        "cycles of an offender",
        "paused for over 300 ms",
    ]
    for trace in shown.values():
        others = [item for item in figure.data if item.legendgroup == trace.legendgroup and item is not trace]
        assert {item.fillcolor for item in others} == {
            trace.marker.color,
            *re.findall("color:(#[0-9A-F]{6})", trace.name),
        }
        assert {item.legend for item in others} == {"legend"}


def test_dirty_state_in_mib_with_words(run, cache):
    figure = page(run, cache)
    dirty, writeback, limit, *_ = on_pane(figure, 3)
    assert [trace.name for trace in on_pane(figure, 3)] == [
        "dirty",
        "+ writeback",
        "dirty limit",
        "dirty threshold",
        "background threshold",
    ]
    assert dirty.y[-1] == 49 % 20
    assert writeback.y[-1] == 49 % 20 + 1
    assert set(writeback.customdata) == {1}
    assert set(limit.y) == {25}
    assert limit.hovertemplate == "dirty limit: %{y:.2f} MiB<extra></extra>"


def test_a_wide_step_has_its_value_to_its_end(run):
    figure = page(run, traced(np.array([0, S, 6 * S], np.int64)))
    dirty = on_pane(figure, 3)[0]
    assert dirty.x == pytest.approx([0, 1, 1, 6, 6])
    assert dirty.y.tolist() == [0, 0, 1, 1, 2]


def test_rate_limits_say_the_real_rate_and_0_is_on_the_edge(run, cache):
    tasks = [trace for trace in on_pane(page(run, cache), 5) if trace.mode == "markers"]
    assert {trace.name for trace in tasks} == {"l1", "mw1"}
    for trace in tasks:
        assert set(trace.customdata) == {0, 512, 1024}
        assert set(trace.y) == {256 << 10, 512 << 10, 1 << 20}
        assert "may dirty %{customdata:,.0f} KiB/s" in trace.hovertemplate


def test_a_long_legend_has_room_between_panes(run, cache):
    short = page(run, cache).layout
    cache.counts = {f"writeback:writeback_something_{number}": 50 for number in range(8)}
    long = page(run, cache).layout
    assert long.height > short.height
    above, below = long.yaxis.domain[0], long.yaxis2.domain[1]
    assert below < long.legend3.y < above


def test_a_span_without_events_has_an_empty_pane(run):
    cache = traced(np.array([6 * S, 7 * S], np.int64))
    figure = page(run, cache, window=Window(0, S))
    assert titles(figure)[1].startswith("events")
    assert [trace.x for trace in on_pane(figure, 2)] == [(None,)]  # without any, Plotly would leave the pane out


def test_names_cannot_be_markup(run, cache):
    cache.throttling.task[:] = "<b>x</b>"
    (trace,) = on_pane(page(run, cache), 4)
    assert trace.name == "&lt;b&gt;x&lt;/b&gt;"
    assert trace.hovertemplate.startswith("&lt;b&gt;x")


def test_title_says_what_the_picture_s_does_and_why_a_run_failed(run):
    assert page(run).layout.title.text == title(run)
    failed = replace(run, record=run.record | {"outcome": "failed", "reason": "disk </script> full " + 40 * "word "})
    heading = page(failed).layout.title
    assert heading.font.color == PAUSE
    assert "disk &lt;/script&gt; full" in heading.text
    assert max(map(len, heading.text.split("<br>"))) < 170


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
    save_page(page(run, cache), run, path)
    content = path.read_text()
    links = Links()
    links.feed(content)
    assert links.loaded == []
    assert links.title == f"{run.path.name}: timeline"
    # Plotly fetches maps, fonts and formulas on request.
    assert {trace.type for trace in page(run, cache).data} <= {"scatter", "scattergl"}
    assert "MathJax.js" not in content


def test_a_browser_has_the_bar_s_buttons_and_none_that_uploads(run, cache, tmp_path):
    save_page(page(run, cache), run, tmp_path / "a.html")
    assert buttons_of(tmp_path / "a.html", "document.querySelector('.modebar-btn')") == BAR


def test_the_bar_has_only_listed_buttons():
    assert [name for group in CONFIG["modeBarButtons"] for name in group] == BUTTON_NAMES
    assert not CONFIG["showSendToCloud"]
    assert CONFIG["plotlyServerURL"] == ""
    known = get_plotlyjs()
    assert [name for name in BUTTON_NAMES if f'name:"{name}"' not in known] == []


def test_saved_twice_it_is_the_same_file(run, cache, tmp_path):
    first, second = (tmp_path / f"{number}.html" for number in (1, 2))
    for path in (first, second):
        save_page(page(run, cache), run, path)
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
    figure = page(long, cache)
    drawn = {trace.name: len(trace.x) for trace in figure.data}
    assert sum(drawn.values()) < 800_000, f"{LEANER}; points by name: {drawn}"
    _, steps = said(figure, "mw1")
    expected = mw1.boundaries_ns[:-1][mw1.pauses_ns > DEFAULT_BOUND_NS] / 1e9
    assert [start for text, start in steps if text.startswith("paused")] == pytest.approx(expected, abs=0.001)
    assert len(expected) == paused
    path = tmp_path / "long.html"
    save_page(figure, long, path)
    assert path.stat().st_size < MOST_BYTES, f"{LEANER}; points by name: {drawn}"
    assert {trace.type for trace in on_pane(figure, 5)} == {"scattergl", "scatter"}


def test_another_suffix_and_a_place_that_cannot_be_written(run, tmp_path):
    with pytest.raises(InputError, match=r"a\.png.*\.html"):
        save_page(page(run), run, tmp_path / "a.png")
    with pytest.raises(WblabError, match="cannot write"):
        save_page(page(run), run, tmp_path / "nowhere" / "a.html")


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
