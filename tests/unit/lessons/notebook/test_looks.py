"""What a look at a run shows: a table, a picture, words, and what programs printed; no markup of a stranger."""

import json

import pytest
from support.pages import Page, words
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.formats import CONSOLE
from wblab.lessons.notebook import looks
from wblab.lessons.notebook.looks import looked
from wblab.lessons.notebook.shown import as_html, as_list
from wblab.lessons.sections import SectionLook
from wblab.report.listing import Listing
from wblab.report.report import Lines


@pytest.fixture
def run(tmp_path):
    times = [0, 100 * MS, 200 * MS, 1700 * MS, 1800 * MS]
    run = read_run(write_run(tmp_path / "run", {"c1": [0, 50 * MS], "w1": [0, S], "mw1": times}))
    (run.path / CONSOLE).write_text("booting\nstep 1: 40 MiB <b>\nend\n")
    return run


def test_pauses_are_a_table(run):
    shown = looked(run, SectionLook("pauses"))
    page = Page()
    page.feed(shown.html)
    assert {"table", "caption", "thead", "tbody"} <= set(page.tags)
    assert "scope=col" in shown.html
    assert "mw1 was stalled once, for 1.40 s" in shown.text
    assert "mw1" in words(shown.html)


@pytest.mark.parametrize("look", [SectionLook("timeline"), SectionLook("timeline", around="mw1")])
def test_the_timeline_is_a_picture_with_words(run, look):
    shown = looked(run, look)
    assert 'src="data:image/png;base64,iVBOR' in shown.html
    assert 'alt="Timeline ' in shown.html
    assert "mw1 was stalled once" in shown.text
    assert "It shows only the loads: cannot read" in shown.html


def test_why_in_words(run):
    with pytest.raises(InputError):
        looked(run, SectionLook("why"))  # nothing was traced


def test_why_with_its_evidence(run, monkeypatch):
    monkeypatch.setattr(looks, "explanations", lambda run, load: [f"a pause{load}"])
    words = ("do_wp_page > <b>",)
    monkeypatch.setattr(looks, "evidence", lambda run, found, bound: (Lines((*found, *words, bound), indent=3),))
    shown = looked(run, SectionLook("why", evidence=True))
    assert shown.text == "   a pause\n   do_wp_page > <b>\n   300 ms"
    assert '<span style="padding-left: 5ch; text-indent: -5ch">   do_wp_page &gt; &lt;b&gt;</span>\n' in shown.html
    assert looked(run, SectionLook("why", evidence=True, load=" of w1")).text.startswith("   a pause of w1\n")


def test_what_a_load_dropped_stands_below_the_table(run):
    path = run.path / "load.w1.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dropped": 1}))
    shown = looked(run, SectionLook("pauses"))
    assert "<ul><li>w1: dropped the work of 1 of its 1 cycles, for lack of room</li></ul>" in shown.html
    assert shown.text.endswith("for lack of room")


def test_printed_lines(run):
    shown = looked(run, SectionLook("printed", words="MiB"))
    assert shown.text == "step 1: 40 MiB <b>"
    assert "&lt;b&gt;" in shown.html
    assert "has 'gone'" in looked(run, SectionLook("printed", words="gone")).text
    (run.path / CONSOLE).unlink()
    with pytest.raises(InputError):
        looked(run, SectionLook("printed", words="other"))


def test_a_table_is_no_markup():
    html = as_html(Listing([("<b>", "1")], ("a<", "n"), frozenset([1])), "it's <i>")
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<td class=n>1</td>" in html
    assert "<th scope=col>a&lt;</th><td></td>" in as_html(Listing([("1", "2")], ("a<", "")), "empty")


def test_names_in_a_list_are_in_italics():
    html = as_list(["the disk *slow*, 2 * 3 * 4 <b>"])
    assert html == "<ul><li>the disk <em>slow</em>, 2 * 3 * 4 &lt;b&gt;</li></ul>"
