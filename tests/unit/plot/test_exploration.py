"""Pictures, words and the page of an exploration with known effects."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.explored import design, observed
from support.pages import Page
from support.reports import cells, tables, texts

from wblab.analysis.sensitivity.analysis import analyse, floor
from wblab.analysis.sensitivity.anova import Sampling
from wblab.analysis.sensitivity.observed import Response
from wblab.plot.exploration import distribution_figure, drawn_report, exploration_figures, plot_effects
from wblab.plot.explorationmaps import plot_levels, plot_medians, plot_tail_map
from wblab.plot.picture import svg
from wblab.report.explorationreport import answer
from wblab.report.explorationtext import (
    beyond_sentences,
    effect_lines,
    ends,
    headline,
    looks,
    region_sentences,
    salib_sentence,
    shown_effects,
    tail_sentences,
)
from wblab.report.page import page as page_of

FACTORS = {"limit<": (12, True), "scheduler": (4, False), "memory": (3, True), "idle": (24, False), "dummy": (8, True)}


@pytest.fixture(scope="module")
def data():
    """Pauses that grow with the limit, and that scheduler2 shortens except with little memory."""
    made = design(1024, FACTORS)
    codes, random = made[2], np.random.default_rng(1)
    spared = (codes[:, 1] == 2) & (codes[:, 2] > 0)
    pause = 2.0 ** (codes[:, 0] - 6) * np.where(spared, 0.02, 1) * np.exp(random.normal(0, 0.3, 1024))
    pause[:3] = np.nan
    rate = (50 + 10 * codes[:, 0]) * 1e6 * np.exp(random.normal(0, 0.1, 1024))
    return observed(
        made,
        {
            "pause": pause,
            "rate": Response("rate", "bytes/s", rate, more_is_better=True, above={"0": 0.0, "1GB/s": 1e9}),
            "same": np.zeros(1024),
        },
    )


@pytest.fixture(scope="module")
def analysis(data):
    return analyse(data, sampling=Sampling(permutations=499, resamples=50))


@pytest.fixture(scope="module")
def report(analysis, data):
    return drawn_report(analysis, data, "An exploration")


def test_effects_are_drawn_by_their_share_and_the_dummy_after_them(analysis):
    finding = analysis.findings[0]
    names = shown_effects(finding, analysis.factors)
    assert names[0] == ("limit<",)
    assert names[4] == ("dummy",)
    assert ("scheduler", "memory") in names
    ax = plot_effects(finding.views[0], names, analysis.factors)
    assert [text.get_text() for text in ax.get_yticklabels()][:2] == ["limit<", "scheduler"]
    assert [bool(bar.get_hatch()) for bar in ax.patches][:5] == [False] * 4 + [True]
    limit = 100 * floor(finding.views[0].variance, analysis.factors)
    assert any(line.get_xdata()[0] == pytest.approx(limit) for line in ax.lines if line.get_linestyle() == "--")


def test_levels_have_medians_and_every_row(data):
    response = data.responses["pause"]
    ax = plot_levels(data, response, "scheduler", log=True)
    points = next(line for line in ax.lines if line.get_marker() == ".")
    assert len(points.get_xdata()) == np.isfinite(response.values).sum()
    bars = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 2]
    codes = data.codes[:, 1]
    assert bars == pytest.approx([np.nanmedian(response.values[codes == level]) for level in range(4)])
    assert ax.get_yscale() == "log"


def test_maps_have_a_cell_for_each_two_levels(analysis, data):
    ax = plot_medians(data, data.responses["pause"], ("scheduler", "memory"), log=True)
    assert ax.images[0].get_array().shape == (4, 3)
    found = analysis.findings[0].maps[0]
    assert set(found.factors) == {"limit<", "scheduler"}
    ax = plot_tail_map(found)
    rings = next(line for line in ax.lines if line.get_marker() == "o")
    free = sum(count > 0 and not near for rows, reach in zip(found.rows, found.reached, strict=True)
               for count, near in zip(rows, reach, strict=True))  # fmt: skip
    assert len(rings.get_xdata()) == free > 0


def test_figures_that_would_be_empty_are_left_out(analysis, data):
    pause, rate, same = (exploration_figures(analysis, data, finding) for finding in analysis.findings)
    assert len(pause) == 6
    assert "What it depends on" in rate
    assert "Two factors together: the median" not in rate
    assert same == {}


def test_shares():
    assert (ends(-0.0001, 0.2), ends(float("nan"), float("nan"))) == ("-0.01 to 20.0", "")


def test_words(analysis, data):
    pause, rate, same = analysis.findings
    assert re.fullmatch(r"pause: 1021 rows, median \S+ m?s, worst tenth from \S+ s, worst \S+ s", headline(pause, data))
    into, out = tail_sentences(pause)
    assert re.match(
        r"The worst 10\.\d % of the rows \(at least \S+ s\) are more frequent with limit< = limit<11 \(\d+ of 8\d\)",
        into,
    )
    assert "scheduler = scheduler2" in out
    assert "(at most" in tail_sentences(rate)[0]
    assert tail_sentences(same) == beyond_sentences(pause) == []
    assert beyond_sentences(rate) == ["More than 0 in 100 % (99.6 to 100), 1GB/s in 0 % (0 to 0.37) of the rows."]
    best, cost = region_sentences(pause.region, {"pause": "s", "rate": "bytes/s"})
    assert re.search(r"Best where .*limit< is limit<0 or limit<1", best)
    assert cost.startswith("The median of rate is ")
    assert region_sentences(None, {})[0].startswith("No region is better by a tenth or more")
    assert "RBD-FAST (SALib) also estimates the shares of the 3 factors" in salib_sentence(pause)
    assert salib_sentence(same) == ""


def test_the_answer_is_three_sentences(analysis):
    pause, rate, same = analysis.findings
    depends, worst, best = answer(pause)
    assert re.match(
        r"It depends most on limit< \(\S+ % of the variance of its logarithm\), scheduler \(\S+ %\) and "
        r"(scheduler together with )?memory \(\S+ %\); 1 more effect is smaller",
        depends,
    )
    assert re.match(r"In the worst tenth are \S+ % of the rows with limit< = limit<11", worst)
    assert worst.endswith("; of all rows 10.1 %.")
    assert re.search(r"Best where .*limit< is limit<0 or limit<1.*: worst tenth from \S+ ms there, from \S+ s in", best)
    assert answer(rate)[0].startswith("More than 0 in 100 %")
    assert re.match(r"It depends most on limit< \(\S+ % of its variance\)", answer(rate)[1])
    assert answer(same) == []


def test_an_answer_names_each_factor_once(analysis):
    _, worst, _ = answer(analysis.findings[0])
    assert worst.count("limit< = ") == 1


def test_a_region_that_fails_its_test_is_no_answer(analysis):
    pause, rate, _ = analysis.findings
    for finding in (pause, rate):
        first = finding.region.inside[0]
        all_rows = (replace(finding.region.everywhere[0], p90=first.p90), *finding.region.everywhere[1:])
        failed = replace(finding, region=replace(finding.region, everywhere=all_rows))
        assert not any("Best where" in sentence for sentence in answer(failed))
        assert any("Best where" in sentence for sentence in answer(finding))


def test_without_effects_the_answer_says_so():
    made = design(256, FACTORS)
    noise = observed(made, {"pause": np.random.default_rng(2).lognormal(0, 0.1, 256)})
    analysis = analyse(noise, sampling=Sampling(permutations=99, resamples=50))
    depends, *others = answer(analysis.findings[0])
    assert depends == "It is not shown to depend on any factor. More rows may show one."
    assert others == []


def test_a_terminal_has_the_values_and_the_answer_of_each_response(analysis, data, report):
    assert [section.head for section in report.blocks[:3]] == [headline(finding, data) for finding in analysis.findings]
    said = texts(report, "terminal")
    assert report.headline.startswith("pause depends most on limit< (")
    assert "3 of 1024 rows have no pause and are left out" in said
    assert "all rows have the same value: it depends on no factor of this design" in said
    assert tables(report, "terminal") == []


def test_too_few_rows_for_pairs():
    made = design(64, FACTORS)
    few = observed(made, {"pause": 2.0 ** made[2][:, 0] * np.random.default_rng(1).lognormal(0, 0.1, 64)})
    finding = analyse(few, sampling=Sampling(permutations=99, resamples=50)).findings[0]
    assert looks(finding).endswith("; there are too few rows for pairs")
    assert all(within for line in effect_lines(finding, few.factors) for _, within, _ in line.cells)


def test_what_is_claimed_is_marked(analysis):
    lines = {line.name: line for line in effect_lines(analysis.findings[0], analysis.factors)}
    assert lines["limit<"].found
    assert lines["scheduler × memory"].found
    assert not lines["idle"].found
    assert lines["dummy"].is_dummy


def test_the_evidence_has_all_shares(report):
    first, second = [table for table in tables(report) if table.columns[0].head == "share of variance of"]
    assert [len(first.columns), len(second.columns)] == [7, 5]
    rows = cells(first)
    assert rows[0][0] == "limit<"
    assert rows[0][1].endswith(" *")
    assert any("(no effect)" in row[0] for row in rows)
    assert any("effects were tested" in said for said in texts(report))


def test_a_page_stands_alone_and_escapes_names(analysis, data):
    pause, _, same = analysis.findings
    text = page_of(drawn_report(replace(analysis, findings=(pause, same)), data, "A <title>"))
    page = Page()
    page.feed(text)
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert "script" not in page.tags
    assert page.tags.count("svg") == 6
    assert "limit&lt;" in text
    assert "<li>It depends most on limit&lt; (" in text
    assert "limit<" not in text
    assert "A &lt;title&gt;" in text
    assert "Pareto front: no row is better in both pause and rate" in text
    assert "it depends on no factor of this design" in text


def test_pictures_are_the_same_each_time(analysis, data):
    first, second = (svg(distribution_figure(data, analysis.findings[0])) for _ in range(2))
    assert first == second
