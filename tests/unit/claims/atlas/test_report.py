"""The report of an atlas."""

import re

import pytest
from support.pages import Page, slips, words
from support.reports import blocks, cells, tables, texts

from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.report import Atlas, counts, report
from wblab.claims.atlas.target import AtlasRow, Target
from wblab.report.page import page
from wblab.report.report import Cell, Section, Span, Table, text_of
from wblab.report.text import lines

RELEASES = {"7.2": "7.2.11", "6.1": "6.1.192"}
LINEAR = AtlasRow("linear", "", "a <claim>", "reproduced", 'it "held"', "report.html#linear", "3 s (2 to 4)", "5")
OTHER = AtlasRow("other", "", "another", "not testable", "no disk", "report.html#other")
ALICE = "Alice: limit 4 MiB"
SHORT = AtlasRow("3", ALICE, "shorter", "harms", "1 of 2", "report.html#recommendation-3", "×2.00 on throttle", "5")
FAST = AtlasRow(
    "3", ALICE, "faster", "not reproduced", "0 of 2", "report.html#recommendation-3", "×0.90 on throttle", "5"
)
BOB = AtlasRow("4", "Bob: commit=30", "less wear", "not testable", "unknown option 'commit=30'", "")


def target(filesystem, source, *rows, series="7.2"):
    return MadeTarget(Target(series, filesystem, source), RELEASES[series], rows)


def sections(*made):
    return {block.head: block for block in blocks(report(made)) if isinstance(block, Section)}


def squares(*made):
    """Return the cells of the atlas by their addresses."""
    rows = (row for table in tables(report(made)) for row in table.rows)
    return {cell.anchor: cell for row in rows for cell in row.cells if isinstance(cell, Cell) and cell.anchor}


def test_a_target_shows_the_outcomes_of_its_rows():
    claims = {"reproduced": 1, "not reproduced": 0, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "li", LINEAR, OTHER)) == claims
    tried = {"reproduced": 0, "not reproduced": 1, "harms": 1, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "trial", SHORT, FAST, BOB)) == tried


def test_each_cell_has_an_address_with_its_figure_seeds_reason_and_report():
    other = AtlasRow("linear", "", "a <claim>", "not reproduced", "it did not", "report.html#linear", "9 s", "1")
    found = squares(target("ext4", "li", LINEAR), target("xfs", "li", other, OTHER))
    assert found["7.2-ext4-linear"] == Cell(
        Span("●", "yes", "7.2_ext4_li/report.html#linear", title="reproduced"),
        "yes",
        ("3 s (2 to 4)", 'it "held"'),
        "7.2-ext4-linear",
    )
    assert found["7.2-xfs-linear"].notes == ("9 s, 1 seed", "it did not")
    assert found["7.2-xfs-other"].notes == ()
    assert "other on 7.2 xfs: no disk" in texts(report([target("ext4", "li", LINEAR), target("xfs", "li", OTHER)]))


def test_every_address_on_the_page_leads_somewhere():
    made = [target("ext4", "trial", SHORT, FAST, BOB), target("xfs", "li", LINEAR)]
    better = AtlasRow(*(SHORT.name, ALICE, SHORT.says, "reproduced", "2 of 2", SHORT.link, "×0.5", "5"))
    made.append(target("ext4", "trial", better, FAST, series="6.1"))
    text = page(report(made))
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert "7.2-ext4-trial-3-2" in ids  # the second expectation of a recommendation
    links = set(re.findall(r'href="#([^"]*)"', text))
    assert links
    assert links <= set(ids)
    read = Page()
    read.feed(text)
    assert all(address.startswith(("7.2_", "6.1_")) for address in read.loads)
    assert not slips(words(text))
    assert "a &lt;claim&gt;" in text


def test_a_source_begins_with_the_signs_of_all_kernels_on_each_filesystem():
    no = AtlasRow("linear", "", "a <claim>", "not reproduced", "", "", "9 s", "5")
    made = (target("ext4", "li", LINEAR), target("xfs", "li", LINEAR, OTHER), target("ext4", "li", no, series="6.1"))
    section = sections(*made)["Coly Li's claims"]
    overview = next(block for block in section.blocks if isinstance(block, Table))
    assert [column.head for column in overview.columns] == ["claim", "ext4", "xfs"]
    assert cells(overview) == [["linear: a <claim>", "●○", "●·"], ["other: another", "··", "–·"]]
    assert "The signs are of Linux 7.2.11 and 6.1.192, in this order." in texts(report(made))


def test_harm_looks_different_from_not_reproduced():
    found = squares(target("ext4", "trial", SHORT, FAST))
    assert [found[f"7.2-ext4-trial-{name}"].look for name in ("3", "3-2")] == ["harm", "no"]
    said = " ".join(lines(report([target("ext4", "trial", SHORT, FAST)]), None))
    for outcome in ("▲ harms", "○ not reproduced", "● reproduced", "? not decided", "– not testable", "· not made"):
        assert outcome in said


def test_a_row_without_runs_has_a_reason_and_no_report():
    made = target("xfs", "trial", BOB)
    assert squares(made)["7.2-xfs-trial-4"].words.link == ""
    assert any("unknown option 'commit=30'" in text for text in texts(report([made])))


def test_parts_that_are_not_made_are_shown_and_named():
    made = [target("ext4", "li", LINEAR), target("xfs", "trial", SHORT), target("xfs", "li", LINEAR, series="6.1")]
    (said,) = (text for text in texts(report(made)) if text.startswith("Not made yet"))
    assert "trial on ext4; thesis on xfs; li on xfs (7.2); chadd on xfs" in said
    assert said.endswith("trial on xfs (6.1).")
    assert "7.2-xfs-linear" not in squares(*made)


def test_one_kernel_has_no_differences():
    assert report([target("ext4", "li", LINEAR)]).headline.startswith("The atlas has only Linux 7.2.11.")
    assert "Where kernels differ" not in sections(target("ext4", "li", LINEAR))


@pytest.mark.parametrize(
    ("other", "head", "said"),
    [
        ("not reproduced", "Where kernels differ", "1 claim or expectation has different outcomes on Linux"),
        ("not decided", "Not decided on every kernel", "No claim or expectation has different decided outcomes"),
    ],
)
def test_where_kernels_differ_comes_first(other, head, said):
    row = AtlasRow("linear", "", "a <claim>", other, "it did not", "report.html#linear", "9 s", "5")
    made = (target("ext4", "li", LINEAR), target("ext4", "li", row, series="6.1"))
    assert text_of(report(made).headline).startswith(said)
    assert list(sections(*made))[1] == "Where kernels differ"
    blocks = sections(*made)[head].blocks
    each = next((block for block in blocks if isinstance(block, Section)), sections(*made)[head])
    assert each.place == "folded"
    table = next(block for block in each.blocks if isinstance(block, Table))
    (shown,) = table.rows
    assert [(cell.words.link, cell.words.title, cell.notes) for cell in shown.cells[2:4]] == [
        ("#7.2-ext4-linear", "reproduced", ("3 s (2 to 4)",)),
        ("#6.1-ext4-linear", other, ("9 s",)),
    ]
    assert [column.head for column in table.columns][4:] == (["since"] if other == "not reproduced" else [])


def test_what_differs_alike_shares_a_row_of_the_first_table():
    names = ("linear", "other", "third")
    new = [AtlasRow(name, "", f"says {name}", "reproduced", "", "", "", "") for name in names]
    old = [AtlasRow(one.name, "", one.says, "not reproduced", "", "", "", "") for one in new[:2]]
    alone = AtlasRow("third", "", "says third", "harms", "", "", "", "")
    made = (target("ext4", "li", *new), target("ext4", "li", *old, alone, series="6.1"))
    (table,) = (block for block in sections(*made)["Where kernels differ"].blocks if isinstance(block, Table))
    shown = [[text_of(row.cells[0]), *row.cells[1:]] for row in table.rows]
    assert shown == [
        ["linear: says linear; also other", "ext4", "●", "○", ""],
        ["third: says third", "ext4", "●", "▲", ""],
    ]
    assert Atlas(made).agreement() == "Kernels agree on all but 3 of 3 outcomes; a known commit explains 0 of these."


def test_the_json_gives_each_cell_its_reason_and_each_difference(tmp_path):
    row = AtlasRow("linear", "", "a <claim>", "not reproduced", "it did not", "report.html#linear", "9 s", "5")
    found = report(
        [target("ext4", "li", LINEAR, OTHER), target("ext4", "li", row, series="6.1"), target("xfs", "trial", BOB)]
    ).to_json()
    cells = {item["address"]: (item["outcome"], item["why"]) for item in found["cells"]}
    assert cells["7.2-ext4-other"] == ("not testable", "no disk")
    assert "6.1-ext4-other" not in cells
    (one,) = found["compared"]
    assert one["outcomes"] == {"7.2": "reproduced", "6.1": "not reproduced"}
    assert (one["sort"], one["since"]) == ("differs", "not explained")
    assert found["not_made"] == ["7.2_ext4_trial", "6.1_ext4_trial", "7.2_xfs_li"]
