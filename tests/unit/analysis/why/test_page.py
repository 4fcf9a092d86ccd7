"""wblab why --html: the page, for a browser and for a reader."""

import asyncio
import re
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from support.blametraces import Story
from support.browser import browser
from support.reports import blocks, cells, tables, texts
from support.runs import MS

from wblab.analysis.why.account import RUNNABLE, RUNNING, UNEXPLAINED
from wblab.analysis.why.explain import explain
from wblab.analysis.why.explanations import explanations
from wblab.analysis.why.kinds import KINDS
from wblab.analysis.why.recorded import read_recorded
from wblab.api.explained import ExplainedPause
from wblab.cli import main
from wblab.plot.causes import causes_axes
from wblab.plot.style import cause_colour
from wblab.plot.whypage import drawn_report
from wblab.report.report import Report, Section, Span

from .conftest import MW1
from .test_explain import COMMS, L1, MUTEX, MUTEX_ENDS, NAP, NAP_ENDS, SHADOW, SHADOW_ENDS, blocked

EVIL = "<img src=x>"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *said):
        pass


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture
def page(story_run, capsys):
    """A run of two pauses: behind the journal, and behind a lock of a task with a hostile name; its report and page."""
    story = Story(COMMS | {L1: EVIL})
    story.wait_for_block(0, MW1, 276)
    blocked(story, 0, 600, SHADOW, SHADOW_ENDS)
    blocked(story, 600, 700, NAP, NAP_ENDS)
    story.switch(700 * MS, MW1, L1, stack=MUTEX)
    story.switch(800 * MS, L1, 0, stack=SHADOW)
    story.hand_over(1200 * MS, 0, L1, SHADOW_ENDS)
    story.wake(1300 * MS, L1, MW1, MUTEX_ENDS)
    story.switch(1400 * MS, L1, MW1)
    blocked(story, 1400, 1500, NAP, NAP_ENDS)
    run, recorded = story_run(story, [0, 700 * MS, 1500 * MS])
    assert main(["why", str(run.path), "--html"]) == 0
    path = run.path / "why.html"
    assert capsys.readouterr().out == f"{path}\n"
    return run, explain(run, recorded), drawn_report(run, explanations(run), "300 ms"), path.read_text()


def test_the_parts_of_each_bar_add_up_to_the_pause(page):
    _, found, shown, _ = page
    bars = [block for block in blocks(shown) if isinstance(block, Section) and block.picture]
    assert [bar.place for bar in bars] == ["page", "folded", "folded"]
    for bar in bars:
        widths = re.findall(r'width="([0-9.]+)%"', bar.picture.svg)
        assert sum(map(float, widths)) == pytest.approx(100, abs=0.01)
    sums = [table for table in tables(shown) if cells(table)[-1][0] == "total"]
    assert len(sums) == 2 + len(found)


def test_the_evidence_of_a_sentence_is_below_it(page):
    _, _, shown, _ = page
    head = "1. mw1 was stalled for 600 ms in the cycle that began at 0.000 s."
    first = next(block for block in blocks(shown) if isinstance(block, Section) and block.head == head)
    of_first = Report("", "", first.blocks)
    assert any("block 276" in text for text in texts(of_first))
    *_, events, stacks = tables(of_first)
    rows = cells(events)
    assert (rows[0][2], rows[-1][2], rows[-1][4]) == ("block_buffer_wait", "sched_waking", "is woken")
    named = [span.text for row in stacks.rows for span in row.cells if isinstance(span, Span) and span.look]
    assert {"do_get_write_access", "journal_end_buffer_io_sync"} <= set(named)
    assert "(do_idle)" in [row[1] for row in cells(stacks)]  # an interrupted task is no evidence


def test_chains_are_listed_link_by_link(page):
    _, _, shown, _ = page
    chain = next(text for text in texts(shown) if "held up by" in text)
    assert "mw1 waited for a lock that another task held" in chain
    assert "waited to change a block that the journal was writing" in chain


def test_untrusted_text_is_no_markup(page):
    *_, text = page
    shown = Page(text)
    assert not shown.of("img")
    assert EVIL in shown.text


def test_the_page_is_self_contained_and_links_to_close_ups(page):
    run, *_, text = page
    shown = Page(text)
    assert not shown.of("script") + shown.of("link")
    links = [attributes["href"] for attributes in shown.of("a")]
    first, second = "timeline.html#0.000-0.980", "timeline.html#0.380-1.820"
    assert links == [second, "timeline.html", first, second]
    timeline = (run.path / "timeline.html").read_text()
    assert "location.hash" in timeline


def test_the_url_fragment_selects_the_span_of_the_timeline(page):
    run, *_ = page
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(run.path)))
    Thread(target=server.serve_forever, daemon=True).start()

    async def look():
        async with browser(f"http://127.0.0.1:{server.server_port}/timeline.html#0.380-1.820") as opened:
            await opened.until("[window.timeline?.from, window.timeline?.to].join() === '0.38,1.82'")
            await opened.value("location.hash = '#0.1-0.5'")
            await opened.until("[timeline.from, timeline.to].join() === '0.1,0.5'")
            await opened.value("location.hash = '#nonsense'")  # which changes nothing
            assert await opened.value("[timeline.from, timeline.to].join()") == "0.1,0.5"

    try:
        asyncio.run(look())
    finally:
        server.shutdown()
        server.server_close()


def test_without_pauses_it_says_so(page, capsys):
    run, *_ = page
    assert main(["why", str(run.path), "--html", "--bound", "9s"]) == 0
    assert "No pause over 9 s." in (run.path / "why.html").read_text()


def test_html_cannot_be_combined_with_json_or_prove(page, capsys):
    run, *_ = page
    assert main(["why", str(run.path), "--html", "--json"]) == 2
    assert "--html cannot be combined" in capsys.readouterr().err


def test_every_kind_of_wait_has_a_colour_unlike_unknown():
    waits = {kind.name for kind in KINDS if kind.nature == "waits"}
    shades = {what: cause_colour(what) for what in (*waits, RUNNING, RUNNABLE)}
    assert len(set(shades.values())) == len(shades)
    assert cause_colour(UNEXPLAINED) not in shades.values()


def test_a_picture_has_bars_as_long_as_the_pauses(page):
    _, found, *_ = page
    ax = causes_axes(found)
    ends = [
        max(bar.get_x() + bar.get_width() for bar in ax.patches if round(bar.get_y() + 0.4) == row) for row in (0, 1)
    ]
    assert ends == pytest.approx([item.pause_ns / 1e9 for item in found])


def test_tables_have_all_parts(page):
    run, found, *_ = page
    for item in (ExplainedPause(each, read_recorded(run), run) for each in found):
        assert item.parts["time_s"].sum() == pytest.approx(item.duration_s)
        assert item.chains["time_s"].sum() == pytest.approx(item.duration_s)
    first = ExplainedPause(found[0], read_recorded(run), run)
    assert first.stacks()["sleeper"].tolist()[:2] == ["out_of_line_wait_on_bit", "do_get_write_access"]
    assert "do_idle" not in set(first.stacks()["waker"])  # the interrupted task
    assert first.events()["event"].iloc[0] == "block_buffer_wait"
