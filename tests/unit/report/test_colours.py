"""The one sheet of colours, on light paper and on dark, and how long tables look."""

import re
from itertools import product

import pytest

from wblab.lab.places import ROOT
from wblab.report.page import framed, render
from wblab.report.palette import contrast

SHEETS = [*(ROOT / "wblab").rglob("*.css"), *(ROOT / "wblab").rglob("*.html"), *(ROOT / "wblab").rglob("*.jinja")]
OTHERS = {"colours.css", "uPlot.min.css"}
TEXTS = ("ink", "soft", "mark", "frozen", "late", "comment", "keyword", "string", "number", "yes", "no", "undecided")
GRAPHICS = ("rule", "works", "frozen")


def papers():
    """Return the colours of both papers, by their names."""
    light, dark = render("wblab.report", "colours.css").split("@media (prefers-color-scheme: dark)")
    return {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))
        for name, text in {"light": light, "dark": dark}.items()
    }


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_every_text_and_mark_can_be_read_on_each_ground(paper):
    colours = papers()[paper]
    texts = {
        (text, ground): contrast(colours[text], colours[ground])
        for text, ground in [
            *product(TEXTS, ("paper", "panel")),
            ("ink", "target"),
            ("on-frozen", "frozen"),
            ("ink", "line"),
        ]
    }
    assert {pair: found for pair, found in texts.items() if found < 4.5} == {}
    graphics = {(mark, ground): contrast(colours[mark], colours[ground]) for mark in GRAPHICS for ground in ("paper",)}
    assert {pair: found for pair, found in graphics.items() if found < 3} == {}


def test_both_papers_have_the_same_colours_and_no_page_has_others():
    light, dark = papers().values()
    assert light.keys() == dark.keys()
    sheets = {sheet.name: sheet.read_text() for sheet in SHEETS if sheet.name not in OTHERS}
    assert {name for name, text in sheets.items() if re.search(r"#[0-9a-f]{3}([0-9a-f]{3})?\b(?!\")", text)} == set()
    used = set(re.findall(r"var\(--([\w-]+)\)", " ".join(sheets.values()) + " ".join(light)))
    assert used - light.keys() <= {"left", "right", "top", "colour"} | {f"{name}-tint" for name in light}


def table(rows):
    return (
        "<table><tr><th>a <b>claim</b></th><th>figure</th></tr>" + rows * "<tr><td>x</td><td>1</td></tr>" + "</table>"
    )


def test_a_table_of_over_20_rows_is_folded_once():
    assert framed(table(20)) == f'<div class="scroll" tabindex="0">{table(20)}</div>'
    assert framed(table(21)).startswith("<details><summary>21 rows: a claim, figure</summary>")
    assert "details" not in framed(table(21), is_folded=True)


def test_lines_of_a_table_break_before_an_option_and_at_the_joints_of_a_long_name():
    cells = "<td><code>wblab why --pauses</code></td><td>disk.slow.bdi.strict_limit=1 {png,svg}</td>"
    shown = framed(f"<table><tr>{cells}</tr></table>")
    assert '<code>wblab why <span class="whole">--pauses</span></code>' in shown
    assert "disk.<wbr>slow.<wbr>bdi.<wbr>strict_<wbr>limit=<wbr>1 {png,svg}" in shown


def test_a_column_without_a_head_is_none_for_a_reader_of_screens():
    assert "<tr><td></td><th>7.2</th>" in framed("<table><tr><th></th><th>7.2</th></tr></table>")
