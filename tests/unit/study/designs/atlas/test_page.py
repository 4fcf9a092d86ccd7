"""The page of an atlas."""

import re

from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.page import counts, write_page
from wblab.study.designs.atlas.target import Row, Target

KERNEL = "7.2.11"
LINEAR = Row("linear", "", "a <claim>", "reproduced", 'it "held"', "report.html#linear")
OTHER = Row("other", "", "another", "not testable", "no disk", "report.html#other")
ALICE = "Alice: limit 4 MiB"
SHORT = Row("3", ALICE, "shorter", "harms", "×2.00 on throttle", "report.html#recommendation-3")
FAST = Row("3", ALICE, "faster", "not reproduced", "×0.90 on throttle", "report.html#recommendation-3")
BOB = Row("4", "Bob: commit=30", "less wear", "not testable", "unknown option 'commit=30'", "")


def target(filesystem, source, *rows):
    return Made(Target("7.2", filesystem, source), KERNEL, rows)


def text_of(tmp_path, *made):
    return write_page(made, tmp_path).read_text()


def test_a_target_shows_the_outcomes_of_its_rows():
    claims = {"reproduced": 1, "not reproduced": 0, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "li", LINEAR, OTHER)) == claims
    tried = {"reproduced": 0, "not reproduced": 1, "harms": 1, "not decided": 0, "not testable": 1}
    assert counts(target("xfs", "trial", SHORT, FAST, BOB)) == tried


def test_each_mark_links_to_the_claim_in_its_report(tmp_path):
    other = Row("linear", "", "a <claim>", "not reproduced", "it did not", "report.html#linear")
    text = text_of(tmp_path, target("ext4", "li", LINEAR), target("xfs", "li", other, OTHER))
    assert 'href="7.2_ext4_li/report.html#linear" title="reproduced: it &#34;held&#34;">●</a>' in text
    assert 'href="7.2_xfs_li/report.html#linear" title="not reproduced: ' in text
    assert 'href="7.2_xfs_li/report.html#other"' in text
    assert 'href="7.2_ext4_li/report.html#other"' not in text
    assert "a &lt;claim&gt;" in text
    assert re.search(r"<th>Linux</th>\s*<th [^>]*>7\.2\.11</th>", text)
    assert "folk wisdom" not in text


def test_each_expectation_is_a_row_below_its_recommendation(tmp_path):
    text = text_of(tmp_path, target("ext4", "trial", SHORT, FAST, BOB), target("xfs", "trial", SHORT, FAST))
    assert text.count(ALICE) == 1
    assert text.count("Bob: commit=30") == 1
    assert text.index(ALICE) < text.index("<td>shorter</td>") < text.index("<td>faster</td>") < text.index("less wear")
    assert text.count('href="7.2_xfs_trial/report.html#recommendation-3"') == 2
    assert "What is claimed" not in text


def test_harm_looks_different_from_not_reproduced(tmp_path):
    text = text_of(tmp_path, target("ext4", "trial", SHORT, FAST))
    looks = dict(re.findall(r'<td class="mark (\w+)[^>]*><a [^>]*title="([^:]*):', text))
    assert looks == {"harm": "harms", "no": "not reproduced"}
    for outcome in ("▲ harms", "○ not reproduced", "● reproduced", "? not decided", "– not testable"):
        assert outcome in text


def test_a_row_without_runs_has_a_reason_and_no_link(tmp_path):
    text = text_of(tmp_path, target("xfs", "trial", BOB))
    assert 'title="not testable: unknown option &#39;commit=30&#39;">–</td>' in text
    assert "<a " not in text


def test_claims_and_recommendations_have_the_same_columns(tmp_path):
    text = text_of(tmp_path, target("ext4", "li", LINEAR), target("xfs", "trial", SHORT))
    assert re.findall(r'<th class="fs[^>]*>(\w+)</th>', text) == ["ext4", "xfs"] * 2
    assert len(re.findall(r'<td class="mark[^>]*></td>', text)) == 2  # ext4 has no trial, xfs no claims
