"""The forms of the atlas in the docs are made from its targets, whichever there are."""

import re

import pytest

from wblab.claims.atlas.made import MadeTarget
from wblab.claims.atlas.target import AtlasRow, Target
from wblab.claims.pages.claims import short_atlas, whole_atlas
from wblab.claims.pages.kept import read_atlas, write_atlas
from wblab.claims.pages.markdowntables import TOGETHER

RELEASES = {"7.2": "7.2.11", "6.1": "6.1.192"}


def row(name, verdict, figure="3 s (2 to 4)", why="Expected: over 2 s", seeds="5"):
    return AtlasRow(name, "", "it *is* so", verdict, "" if figure else why, "", figure, seeds if figure else "")


def made(series, filesystem, source, *rows):
    return MadeTarget(Target(series, filesystem, source), RELEASES[series], rows)


@pytest.fixture
def text():
    trial = AtlasRow("3a", "A: 4 | 5 MiB", "shorter", "harms", "", "", "×2 on throttle", "5")
    untestable = row("L1", "not testable", "", "no MD <here>")
    openat = row("openat-ext4", "reproduced", "9 s", seeds="3")
    return whole_atlas([
        made("7.2", "ext4", "thesis", row("openat-ext4", "not reproduced"), row("fills-ext4", "reproduced")),
        made("7.2", "ext4", "li", untestable),
        made("7.2", "ext4", "trial", trial),
        made("6.1", "ext4", "thesis", openat, row("fills-ext4", "not decided")),
        made("6.1", "ext4", "li", row("L1", "reproduced")),
    ])  # fmt: skip


def test_where_kernels_differ_comes_first_then_a_table_for_each_source(text):
    heads = re.findall(r"^(?:## |<summary>)(.*?)(?:</summary>)?$", text, re.MULTILINE)
    assert [head for head in heads if " on ext4" not in head and head != "Not testable"] == [
        "Where kernels differ",
        "Each that differs, with its figures",
        "Not decided on every kernel",
        "Not testable on every kernel",
        "The thesis's claims",
        "Coly Li's claims",
        "Recommendations",
    ]
    first = text[text.index("## Where") : text.index("<summary>Not decided")]
    assert '<a href="#7.2-ext4-openat-ext4" title="not reproduced">○</a> 3 s (2 to 4) |' in first
    assert '<a href="#6.1-ext4-openat-ext4" title="reproduced">●</a> 9 s, 3 seeds | 6.12, by 29390bb5661d |' in first
    assert '29390bb5661d is "blk-throttle: support prioritized processing of metadata", in Linux 6.12: [' in first
    assert "fills-ext4" not in first


def test_every_link_leads_to_a_cell(text):
    links = set(re.findall(r'<a href="#([^"]*)"', text))
    ids = re.findall(r'<a id="([^"]*)"></a>', text)
    assert len(ids) == len(set(ids)) == 7
    assert links <= set(ids)
    assert links


def test_every_row_has_the_columns_of_its_table(text):
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "A: 4 \\| 5 MiB" in text
    assert "it \\*is\\* so" in text


def test_what_is_not_decided_not_testable_and_not_made_look_different(text):
    assert '| `fills-ext4`: it \\*is\\* so | <a id="7.2-ext4-fills-ext4"></a>● 3 s (2 to 4) | ' in text
    assert '<a id="6.1-ext4-fills-ext4"></a>? 3 s (2 to 4) |' in text
    assert '<a id="7.2-ext4-L1"></a>– |' in text
    assert "- `L1` on 7.2 ext4: no MD \\<here>" in text
    assert '<a id="7.2-ext4-trial-3a"></a>▲ ×2 on throttle |' in text
    assert "Not made yet: chadd on ext4; stephens on ext4; chopper on ext4; trial on ext4 (6.1)." in text


def test_the_usual_number_of_seeds_is_given_once(text):
    assert text.count("A figure is of 5 seeds if it does not say of how many.") == 1
    assert text.count("5 seeds") == 1


def test_each_filesystem_has_a_table_of_its_own():
    text = whole_atlas([
        made("7.2", "ext4", "thesis", row("openat-ext4", "not reproduced")),
        made("7.2", "xfs", "thesis", row("openat-ext4", "reproduced")),
        made("6.1", "ext4", "thesis", row("openat-ext4", "not reproduced")),
    ])  # fmt: skip
    folded = re.findall("^<summary>(The .*)</summary>", text, re.MULTILINE)
    assert folded == ["The thesis's claims on ext4", "The thesis's claims on xfs"]
    assert text.count("<details>") == text.count("</details>") == len(folded)
    assert re.findall(r"^\| claim \| .*", text, re.MULTILINE) == ["| claim | 7.2.11 | 6.1.192 |", "| claim | 7.2.11 |"]
    assert (
        "li on ext4; chadd on ext4; stephens on ext4; chopper on ext4; trial on ext4; thesis on xfs (6.1); li on xfs"
        in text
    )


def test_what_is_kept_is_read_as_it_was(tmp_path):
    file, series = tmp_path / "atlas.json", ["7.2", "6.1"]
    untestable = row("L1", "not testable", "", "no MD")
    first = [made("7.2", "ext4", "li", untestable, row("L2", "reproduced")), made("6.1", "ext4", "li", untestable)]
    write_atlas([made("7.2", "ext4", "li", row("L1", "harms")), first[1]], series, file)
    write_atlas([first[0]], series, file)  # it replaces the former
    kept = read_atlas(file)
    assert [one.target for one in kept] == [one.target for one in first]
    assert whole_atlas(kept) == whole_atlas(first)
    assert len(file.read_text().splitlines()) == 4  # a line for each row


def test_the_short_form_has_where_kernels_differ_and_no_figures():
    text = short_atlas([
        made("7.2", "ext4", "thesis", row("openat-ext4", "not reproduced"), row("fills-ext4", "reproduced")),
        made("6.1", "ext4", "thesis", row("openat-ext4", "reproduced"), row("fills-ext4", "reproduced")),
    ]).replace(TOGETHER, " ")  # fmt: skip
    assert "| `openat-ext4`: it \\*is\\* so | ext4 | ○ | ● | 6.12 |" in text
    assert "fills-ext4" not in text


def test_one_kernel_differs_nowhere():
    text = whole_atlas([made("7.2", "ext4", "li", row("L1", "reproduced"))])
    assert "Where kernels differ" not in text
    assert "Tested on Linux 7.2.11 with" in text
