"""One report, rendered as text, as a mail, as a page and as JSON. `golden` has what each rendering must be."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import slips, words

from wblab import __version__
from wblab.report.page import page
from wblab.report.report import (
    Cell,
    Column,
    Lines,
    Picture,
    Points,
    Report,
    Row,
    Section,
    Span,
    Table,
    changed,
    text_of,
)
from wblab.report.text import MAIL_WIDTH, WIDTH, command, lines, mail, show

GOLDEN = Path(__file__).with_name("golden")
FIGURES = Table(
    (Column("load"), Column("before", "number"), Column("after", "number"), Column("relative", "number", 1)),
    (
        "slow disk",
        Row(("w1", "15.2 s", Cell("1.31 s", "yes", ("the longest pause",)), "-91 %"), "w1"),
        Row(("mw1", "0.2 s", Cell("0.25 s", "undecided"), "+25 %")),
        Row(("c1", "0 s", "0 s", "")),
    ),
    most=2,
)
WHOLE = Report(
    title="A queue of 4 requests",
    headline=("It is ", Span("shorter", "yes"), ": 1.31 s instead of 15.2 s."),
    blocks=(
        "Each figure is the median of ten seeds, which is said here so that this paragraph is longer than one line.",
        Section("Figures", (FIGURES, Section("", ("Only a page explains.",), "page"))),
        Section("Why", (Points(("before: 96 % block", ("after: ", Span("what it is", link="runs/0")))),), "terminal"),
        Section("Runs", (Lines(("wblab why runs/0",)), Picture("Two bars", svg="<svg></svg>")), "folded", "runs"),
    ),
    notes=("12 tests, intervals of 95 %",),
    command="wblab study queue --seeds 10 --exp 'a b'",
    inputs={"digest of base": "1a80df43"},
    data={"figures": [1.5, float("inf")]},
)


@pytest.mark.parametrize(
    ("name", "rendered"),
    [
        ("report.txt", lambda: "\n".join([*lines(WHOLE), ""])),
        ("mail.txt", lambda: "\n".join([*mail(WHOLE), ""])),
        ("report.html", lambda: page(WHOLE)),
    ],
)
def test_a_report_is_rendered_as_before(name, rendered):
    expected = (GOLDEN / name).read_text().replace("VERSION", __version__)
    assert rendered() == expected, f"look at it, and if it is better keep it as {GOLDEN / name}"


def test_programs_get_the_headline_and_the_data_without_infinities():
    found = WHOLE.to_json()
    assert found == {"headline": "It is shorter: 1.31 s instead of 15.2 s.", "figures": [1.5, None]}
    assert json.dumps(found, allow_nan=False)


def test_a_pipe_gets_whole_lines_and_tables(capsys):
    show(WHOLE)
    said = capsys.readouterr().out.splitlines()
    assert said == lines(WHOLE, None)
    assert text_of(WHOLE.blocks[0]) in said
    assert "w1    15.2 s  1.31 s     -91 %" in said


def wide(kind):
    row = Row(("mw1", "15.2 s", "it waited for the journal, and that waited for the disk, " * 2))
    return Table((Column("load"), Column("before", "number"), Column("what it was", kind)), (row,))


def of_table(table, width):
    return lines(Report("", "", (table,)), width)


def test_the_prose_at_a_tables_end_is_wrapped_below_its_head():
    assert of_table(wide("prose"), 60)[:3] == [
        "load  before  what it was",
        "mw1   15.2 s  it waited for the journal, and that waited for",
        "              the disk, it waited for the journal, and that",
    ]


@pytest.mark.parametrize("kind", ["prose", "name"])
def test_a_table_that_does_not_fit_becomes_a_list_that_lacks_nothing(kind):
    found = of_table(wide(kind), 30)
    assert max(map(len, found)) <= 30
    assert " ".join(" ".join(found).split()).startswith("mw1: before 15.2 s")
    assert " ".join(" ".join(found).split()).count("waited for the disk") == 2


def test_what_others_wrote_is_printed_on_its_line_and_is_no_markup():
    evil = "<script>\n\x1b[2J\0bold"
    made = Report(evil, evil, (Points((evil,)), Lines((evil,)), Table((Column(evil),), (Row((evil,)), evil))))
    assert not any(sign in line for line in lines(made) for sign in "\n\x1b\0")
    assert "<script>" not in page(made)


def test_the_places_where_a_report_is_shown_have_links_and_pictures_of_their_own():
    made = changed(
        WHOLE,
        lambda span: Span(span.text, link="../x.html") if span.link else span,
        lambda found: Picture(found.what, address="picture-1.svg"),
    )
    text = page(made)
    assert 'href="../x.html"' in text
    assert 'src="picture-1.svg"' in text
    assert "<svg" not in text
    assert lines(made) == lines(WHOLE)
    assert slips(words(text)) == []


PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200)


@settings(max_examples=60, deadline=None)
@given(arguments=st.lists(PLAIN, min_size=1, max_size=8), width=st.sampled_from([MAIL_WIDTH, WIDTH, None]))
def test_a_wrapped_command_is_the_same_command(arguments, width):
    found = command(["printf", r"%s\0", *arguments], width, 4)
    assert width is None or max(map(len, found)) <= width
    done = subprocess.run(["sh", "-c", "\n".join(found)], check=True, capture_output=True)
    assert done.stdout.decode().split("\0")[:-1] == arguments


def test_a_page_shows_a_thousand_rows_of_a_table_and_how_many_more_there_are():
    rows = tuple(Row((str(at),)) for at in range(1003))
    text = page(Report("many", "", (Table((Column("load", "number"),), rows),)))
    assert text.count('<td class="n">') == 1000
    assert "… and 3 more rows, which are not on this page" in text
