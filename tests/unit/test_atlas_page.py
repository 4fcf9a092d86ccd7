"""The page of an atlas in the docs is made from its targets, whichever there are."""

import re

import pytest
from atlas import page

from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.target import Row, Target

RELEASES = {"7.2": "7.2.11", "6.1": "6.1.192"}


def row(name, verdict, figure="3 s (2 to 4)", why="Expected: over 2 s"):
    return Row(name, "", "it *is* so", verdict, why, f"report.html#{name}", figure, "5" if figure else "")


def made(series, filesystem, source, *rows):
    return Made(Target(series, filesystem, source), RELEASES[series], rows)


@pytest.fixture
def text():
    trial = Row("3a", "A: 4 | 5 MiB", "shorter", "harms", "1 of 2", "", "×2 on throttle", "5")
    untestable = row("L1", "not testable", "", "no MD <here>")
    return page([
        made("7.2", "ext4", "thesis", row("openat-ext4", "not reproduced"), row("fills-ext4", "reproduced")),
        made("7.2", "ext4", "li", untestable),
        made("7.2", "ext4", "trial", trial),
        made("6.1", "ext4", "thesis", row("openat-ext4", "reproduced", "9 s"), row("fills-ext4", "not decided")),
        made("6.1", "ext4", "li", row("L1", "reproduced")),
    ])  # fmt: skip


def test_where_kernels_differ_comes_first_then_a_table_for_each_source(text):
    heads = re.findall(r"^## (.*)", text, re.MULTILINE)
    assert heads == [
        "Where kernels differ",
        "Not decided on every kernel",
        "Not testable on every kernel",
        "The thesis's claims",
        "Coly Li's claims",
        "Recommendations",
    ]
    first = text[text.index("## Where") : text.index("## Not decided")]
    assert '<a href="#7.2-ext4-openat-ext4">○ not reproduced</a> 3 s (2 to 4), 5 seeds' in first
    assert '<a href="#6.1-ext4-openat-ext4">● reproduced</a> 9 s, 5 seeds' in first
    assert "Reproduced before Linux 6.12, not reproduced since: commit 29390bb5661d" in first
    assert "fills-ext4" not in first


def test_every_link_leads_to_a_cell(text):
    links = set(re.findall(r'<a href="#([^"]*)">', text))
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
    assert '| `fills-ext4`: it \\*is\\* so | <a id="7.2-ext4-fills-ext4"></a>● 3 s (2 to 4) | ' in text
    assert '<a id="6.1-ext4-fills-ext4"></a>? 3 s (2 to 4) |' in text
    assert '<a id="7.2-ext4-L1"></a>– |' in text
    assert "- `L1` on 7.2 ext4: no MD \\<here>" in text
    assert '<a id="7.2-ext4-trial-3a"></a>▲ ×2 on throttle | · |' in text
    assert "Not made yet: trial on 6.1, ext4." in text


def test_one_kernel_differs_nowhere():
    text = page([made("7.2", "ext4", "li", row("L1", "reproduced"))])
    assert "Nowhere: " in text
    assert "tested on Linux 7.2.11 with" in text
