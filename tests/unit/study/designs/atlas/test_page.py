"""The page of an atlas."""

import re

import pytest
from support.pages import Page, slips, words

from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.page import counts, to_json, write_page
from wblab.study.designs.atlas.target import Row, Target

RELEASES = {"7.2": "7.2.11", "6.1": "6.1.192"}
LINEAR = Row("linear", "", "a <claim>", "reproduced", 'it "held"', "report.html#linear", "3 s (2 to 4)", "5")
OTHER = Row("other", "", "another", "not testable", "no disk", "report.html#other")
ALICE = "Alice: limit 4 MiB"
SHORT = Row("3", ALICE, "shorter", "harms", "1 of 2", "report.html#recommendation-3", "×2.00 on throttle", "5")
FAST = Row("3", ALICE, "faster", "not reproduced", "0 of 2", "report.html#recommendation-3", "×0.90 on throttle", "5")
BOB = Row("4", "Bob: commit=30", "less wear", "not testable", "unknown option 'commit=30'", "")


def target(filesystem, source, *rows, series="7.2"):
    return Made(Target(series, filesystem, source), RELEASES[series], rows)


def text_of(tmp_path, *made):
    return write_page(made, tmp_path).read_text()


def cell(text, address):
    """Return the cell of an address, and everything in it."""
    return re.search(rf'<td [^>]*id="{re.escape(address)}".*?</td>', text, re.DOTALL).group()


def test_a_target_shows_the_outcomes_of_its_rows():
    claims = {"reproduced": 1, "not reproduced": 0, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "li", LINEAR, OTHER)) == claims
    tried = {"reproduced": 0, "not reproduced": 1, "harms": 1, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "trial", SHORT, FAST, BOB)) == tried


def test_each_cell_has_an_address_with_its_figure_seeds_reason_and_report(tmp_path):
    other = Row("linear", "", "a <claim>", "not reproduced", "it did not", "report.html#linear", "9 s", "1")
    text = text_of(tmp_path, target("ext4", "li", LINEAR), target("xfs", "li", other, OTHER))
    found = cell(text, "7.2-ext4-linear")
    assert 'href="#7.2-ext4-linear">●</a>' in found
    said = " ".join(words(found))
    assert "reproduced , 3 s (2 to 4), 5 seeds" in said
    assert 'it "held"' in said
    assert 'href="7.2_ext4_li/report.html#linear"' in found
    assert "not reproduced , 9 s, 1 seed " in " ".join(words(cell(text, "7.2-xfs-linear")))
    assert "no disk" in words(cell(text, "7.2-xfs-other"))
    assert "a &lt;claim&gt;" in text
    assert re.search(r"<th>Linux</th>\s*<th [^>]*>7\.2\.11</th>", text)
    assert "folk wisdom" not in text


def test_every_address_on_the_page_leads_somewhere(tmp_path):
    made = [target("ext4", "trial", SHORT, FAST, BOB), target("xfs", "li", LINEAR)]
    better = Row(*(SHORT.name, ALICE, SHORT.says, "reproduced", "2 of 2", SHORT.link, "×0.5", "5"))
    made.append(target("ext4", "trial", better, FAST, series="6.1"))
    text = text_of(tmp_path, *made)
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert "7.2-ext4-trial-3-2" in ids  # the second expectation of a recommendation
    assert set(re.findall(r'href="#([^"]*)"', text)) - set(ids) == {"-"}  # what closes a cell: no place
    page = Page()
    page.feed(text)
    assert all(address.startswith(("7.2_", "6.1_")) for address in page.loads)
    assert not slips(words(text))


def test_each_expectation_is_a_row_below_its_recommendation(tmp_path):
    text = text_of(tmp_path, target("ext4", "trial", SHORT, FAST, BOB), target("xfs", "trial", SHORT, FAST))
    assert text.count(f"<td>3 {ALICE}</td>") == 1
    assert text.index(ALICE) < text.index("<td>shorter</td>") < text.index("<td>faster</td>") < text.index("less wear")
    assert text.count('href="7.2_xfs_trial/report.html#recommendation-3"') == 2
    assert "What is claimed" not in text


def test_harm_looks_different_from_not_reproduced(tmp_path):
    text = text_of(tmp_path, target("ext4", "trial", SHORT, FAST))
    looks = [re.match(r'<td class="mark (\w+)', cell(text, f"7.2-ext4-trial-{name}")).group(1) for name in ("3", "3-2")]
    assert looks == ["harm", "no"]
    for outcome in ("▲ harms", "○ not reproduced", "● reproduced", "? not decided", "– not testable", "· not made"):
        assert outcome in text


def test_a_row_without_runs_has_a_reason_and_no_report(tmp_path):
    found = cell(text_of(tmp_path, target("xfs", "trial", BOB)), "7.2-xfs-trial-4")
    assert "unknown option 'commit=30'" in words(found)
    assert "report and runs" not in found


def test_claims_and_recommendations_have_the_same_columns(tmp_path):
    text = text_of(tmp_path, target("ext4", "li", LINEAR), target("xfs", "trial", SHORT))
    assert re.findall(r'<th class="fs[^>]*>(\w+)</th>', text) == ["ext4", "xfs"] * 2


def test_parts_that_are_not_made_are_shown_and_named(tmp_path):
    made = [target("ext4", "li", LINEAR), target("xfs", "trial", SHORT), target("xfs", "li", LINEAR, series="6.1")]
    text = text_of(tmp_path, *made)
    assert "Not made yet: trial on 7.2, ext4; li on 7.2, xfs; trial on 6.1, xfs." in text
    assert ">·</td>" in cell(text, "7.2-xfs-linear")
    assert "Not made yet" not in text_of(tmp_path, made[0])


def test_one_kernel_has_no_differences(tmp_path):
    assert "The atlas has only Linux 7.2.11." in text_of(tmp_path, target("ext4", "li", LINEAR))


@pytest.mark.parametrize(
    ("other", "said"), [("not reproduced", "not explained"), ("not decided", "Not decided on every kernel")]
)
def test_where_kernels_differ_comes_first(tmp_path, other, said):
    row = Row("linear", "", "a <claim>", other, "it did not", "report.html#linear", "9 s", "5")
    text = text_of(tmp_path, target("ext4", "li", LINEAR), target("ext4", "li", row, series="6.1"))
    first = text[text.index("Where kernels differ") : text.index("<h2>Claims")]
    assert said in first
    assert ("Nowhere: " in first) == (other == "not decided")
    shown = re.findall(r'href="#(\S+)">(. [\w ]+)</a><small>([^<]*)', first)
    assert shown == [
        ("7.2-ext4-linear", "● reproduced", "3 s (2 to 4)"),
        ("6.1-ext4-linear", f"{'?' if other == 'not decided' else '○'} {other}", "9 s"),
    ]


def test_the_json_gives_each_cell_its_reason_and_each_difference(tmp_path):
    row = Row("linear", "", "a <claim>", "not reproduced", "it did not", "report.html#linear", "9 s", "5")
    found = to_json(
        [target("ext4", "li", LINEAR, OTHER), target("ext4", "li", row, series="6.1"), target("xfs", "trial", BOB)]
    )
    cells = {item["address"]: (item["outcome"], item["why"]) for item in found["cells"]}
    assert cells["7.2-ext4-other"] == ("not testable", "no disk")
    assert "6.1-ext4-other" not in cells
    (one,) = found["compared"]
    assert one["outcomes"] == {"7.2": "reproduced", "6.1": "not reproduced"}
    assert (one["sort"], one["since"]) == ("differs", "not explained")
    assert found["not_made"] == ["7.2_ext4_trial", "6.1_ext4_trial", "7.2_xfs_li"]
