"""Pictures, words and pages of comparisons."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.pages import Page
from support.reports import cells, tables

from wblab.analysis.groups.comparison import About, compare
from wblab.analysis.groups.observations import observations
from wblab.analysis.statistics.intervals import Interval
from wblab.core.errors import InputError, WblabError
from wblab.lab.callings import called
from wblab.plot.artists import new_figure
from wblab.plot.comparisonfigure import comparison_figure, headline, plot_effects, plot_groups
from wblab.plot.picture import save, svg
from wblab.report.comparisonreport import answer, differences_table, report
from wblab.report.comparisontext import footnotes, is_first, is_headline, line, listed
from wblab.report.page import page
from wblab.report.quantities import confidence

LOADS = {"w1": "write", "mw1": "multiwrite", "l1": "load", "c1": "control"}


def table(axes=("disk.scheduler",), seeds=6):
    """Return a table in which the first axis's second level shortens pauses of 8 s by 2 s; no other change matters."""
    random = np.random.default_rng(3)
    rows = []
    for place in np.ndindex(*[2] * len(axes)):
        levels = {axis: ("none", "bfq<")[level] for axis, level in zip(axes, place, strict=True)}
        for seed in range(seeds):
            for load, kind in LOADS.items():
                for metric in ("longest_pause_s", "wait_time_s", "paused_s", "throughput_bps"):
                    value = 8 - 2 * place[0] * (metric == "longest_pause_s") + random.normal(0, 0.2)
                    run = f"{place}-{seed}"
                    rows.append({**levels, "seed": seed, "run": run, "load": load, "kind": kind, "metric": metric,
                                 "value": value})  # fmt: skip
    return pd.DataFrame(rows)


def drawn(comparison, title):
    return page(report(comparison, title, svg(comparison_figure(comparison))))


@pytest.fixture
def groups():
    return compare(observations(table()))


@pytest.fixture
def factorial():
    return compare(observations(table(("disk.scheduler", "load.l1.ioclass"))))


def marks(ax):
    return [item for item in ax.lines if item.get_marker() == "D"]


def test_groups_show_every_run_and_whether_they_differ(groups):
    ax = plot_groups(groups, "longest_pause_s")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["none", "bfq<"]
    runs = [item for item in ax.lines if item.get_marker() == "o"]
    assert [len(item.get_xdata()) for item in runs] == [6] * 4
    assert [item.get_markerfacecolor() == "white" for item in marks(ax)] == [False] * 4
    assert len(ax.patches) == 4
    hollow = [item.get_markerfacecolor() == "white" for item in marks(plot_groups(groups, "paused_s"))]
    claimed = {item.about.load: item.interval.claim for item in groups.differences if item.about.metric == "paused_s"}
    assert hollow == [False, not claimed["w1"], False, not claimed["mw1"]]


def test_effects_are_drawn_beside_zero(factorial):
    ax = plot_effects(factorial, "longest_pause_s", ["effect"])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["scheduler = bfq<", "ioclass = bfq<"]
    drawn = sorted(marks(ax), key=lambda item: item.get_ydata()[0])
    assert [item.get_xdata()[0] for item in drawn] == pytest.approx([-2, -2, 0, 0], abs=0.25)
    assert [item.get_markerfacecolor() == "white" for item in drawn][:2] == [False, False]


def test_a_figure_has_a_row_of_effects_where_there_are_any(groups, factorial):
    assert len(comparison_figure(groups).axes) == 3
    assert len(comparison_figure(factorial).axes) == 6


def test_a_figure_without_intervals():
    few = compare(observations(table(seeds=2)))
    assert len(comparison_figure(few).axes) == 3


def test_pictures_are_the_same_each_time(groups, tmp_path):
    assert svg(comparison_figure(groups)) == svg(comparison_figure(groups))
    for suffix, start in {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}.items():
        save(comparison_figure(groups), "Comparison", tmp_path / f"x{suffix}")
        assert (tmp_path / f"x{suffix}").read_bytes().startswith(start)


def test_what_cannot_be_written(groups, tmp_path):
    with pytest.raises(InputError, match="must end in"):
        save(comparison_figure(groups), "Comparison", tmp_path / "x.gif")
    with pytest.raises(WblabError, match="cannot write"):
        save(comparison_figure(groups), "Comparison", tmp_path / "none" / "x.png")


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ((0.15, 0.01, 0.4), "-85 % (-99 to -60)"),
        ((0.15, 0.0, 1.28e12), "-85 % (-100 or more)"),  # the baseline's mean may be 0
        ((1e9, 0.5, 1e20), "over ×1,000"),
    ],
)
def test_a_quotient_by_nearly_nothing_is_not_printed_as_a_number(groups, ends, says):
    item = groups.differences[0]
    assert line(replace(item, found=replace(item.found, ratio=Interval(*ends, 3)))).relative == says


def test_lines_claim_only_what_the_interval_shows(groups):
    said = {(item.about.load, item.about.metric): line(item) for item in groups.differences}
    shown = said["mw1", "longest_pause_s"]
    assert (shown.verdict, shown.gain) == ("less: better", 1)
    relative, low, high = map(
        float, re.fullmatch(r"([+-][\d.]+) % \(([+-][\d.]+) to ([+-][\d.]+)\)", shown.relative).groups()
    )
    assert -32 < low < relative < high < -15
    assert re.fullmatch(r"-1\.00 \(-1\.00 to -0\.\d\d\) large", shown.size), shown.size
    undecided = [one for one in said.values() if not one.claimed]
    assert undecided
    for one in undecided:
        assert (one.verdict, one.gain) == ("no difference shown", 0)
        assert not one.size.endswith(("large", "medium", "small"))


def test_too_few_runs_in_words():
    said = line(compare(observations(table(seeds=2))).differences[0])
    assert (said.verdict, said.interval) == ("too few runs", "needs 3 runs")


def test_tables_and_how_many_intervals(groups, factorial):
    assert [len(listed(comparison, sort)) for comparison, sort in ((groups, "group"), (factorial, "effect"))] == [
        16,
        32,
    ]
    assert listed(groups, "effect") == []
    assert footnotes(groups)[-1].startswith("32 tests of means and of ranks")
    assert any("interactions whose intervals include zero" in note for note in report(factorial).notes)


def test_a_narrow_terminal_has_the_difference_its_interval_and_what_changed(groups):
    columns = differences_table(listed(groups, "group"), 0.95).columns
    kept = {column.head for column in columns if not column.spare}
    assert kept == {"load", "metric", "difference", "95 % interval", "", "change"}


def test_claims_stand_first_the_innocents_longest_pause_before_all(groups):
    everything, first = listed(groups, "group"), listed(groups, "group", 12)
    assert {item.claim != 0 for item in first} == {True}
    assert {item.claim != 0 for item in everything} == {True, False}
    assert first[0].about.metric == "longest_pause_s"
    assert len(listed(groups, "group", 2)) == 2


def test_an_answer_is_a_sentence_with_the_difference_and_its_interval(groups):
    said = listed(groups, "group", 1)[0]
    text = answer(groups)
    assert text.startswith(f"{called(said.about.kind, said.about.load)}'s longest pause is ")
    assert " with disk.scheduler=bfq<, which is better: " in text
    assert " instead of " in text
    assert "(interval of the difference: " in text


def crossed(both, first=0.0):
    """Return a comparison in which two changes together make pauses so much longer, and the first change alone too."""
    rows = table(("disk.scheduler", "load.l1.ioclass"))
    one, other = rows["disk.scheduler"] == "bfq<", rows["load.l1.ioclass"] == "bfq<"
    rows.loc[one, "value"] += first
    rows.loc[one & other & (rows["metric"] == "longest_pause_s"), "value"] += both
    return compare(observations(rows))


def test_an_answer_is_what_one_change_does_and_then_what_another_does_to_that():
    """Seen: the answer was the interaction, of which it gave a mean that no run had."""
    first, second = answer(crossed(4)).split(". With ")
    assert re.match(
        r"(?:editor |mail m)w1's longest pause is 2\.\d+ s more with ioclass = bfq<, which is worse: 9\.\d+ instead",
        first,
    )
    assert re.fullmatch(
        r"scheduler = bfq< too, it is [34](\.\d+)? s more than both changes, each alone, add up to "
        r"\(interval: \+[23]\.\d+ to \+4\.\d+ s\)\.",
        second,
    )


def test_two_changes_of_which_none_is_claimed_alone_are_the_answer_together():
    rows = table(("disk.scheduler", "load.l1.ioclass"))
    unlike = (rows["disk.scheduler"] == "bfq<") != (rows["load.l1.ioclass"] == "bfq<")
    rows["value"] = 8 + 0.1 * (rows["seed"] % 3) + 4 * unlike
    said = answer(compare(observations(rows)))
    assert re.match(
        r"(?:editor |mail m)w1's longest pause with scheduler = bfq< and ioclass = bfq< is 8 s less than both changes",
        said,
    )


def test_an_answer_without_an_interaction_is_one_sentence(factorial):
    assert re.fullmatch(
        r"(?:editor |mail m)w1's longest pause is \S+ s less with scheduler = bfq<, which is better: .*\)\.",
        answer(factorial),
    )


def test_an_answer_of_too_few_runs_says_what_was_measured_and_that_nothing_is_claimed():
    few = compare(observations(table(seeds=2)))
    assert "Too few runs to claim that: give 3 of each group" in answer(few)
    assert " instead of " in answer(few)


def test_an_answer_says_how_many_runs_would_decide():
    few = table(seeds=3)
    few["value"] = few["value"].where(few["disk.scheduler"] == "none", few["value"] * 0 + 0.01 * few["seed"])
    few["value"] = few["value"].where(few["disk.scheduler"] != "none", 10.0 + 9 * (few["seed"] % 2))
    said = answer(compare(observations(few)))
    assert said.startswith("Seen, but not decided: ")
    assert "smaller in every run with disk.scheduler=bfq<" in said
    assert re.search(r"Make \d+ of each\.$", said)


def test_what_no_interval_shows_is_not_said_to_differ(groups):
    flat = table()
    flat["value"] = 1.0 + 0.1 * (flat["seed"] % 3)
    assert answer(compare(observations(flat))).startswith("No difference is shown")


def test_what_many_looks_ask_of_each_is_said(groups):
    whole = table()
    one = compare(observations(whole[(whole["load"] == "mw1") & (whole["metric"] == "longest_pause_s")]))
    assert footnotes(one) == ["2 tests, intervals of 95 %"]
    assert headline(one).endswith("intervals of 95 %")
    said = confidence(groups.confidence)
    assert f"32 tests of means and of ranks, so intervals of 95 % are widened to {said};" in footnotes(groups)[-1]
    assert headline(groups).endswith(f"intervals of 95 %, of differences {said}")
    heads = [column.head for column in differences_table(listed(groups, "group"), groups.confidence).columns]
    assert f"{said} interval" in heads


def test_a_page_stands_alone_and_escapes_names(factorial):
    text = drawn(factorial, "A <title>")
    page = Page()
    page.feed(text)
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 1
    assert "bfq&lt;" in text
    assert "bfq<" not in text
    assert "A &lt;title&gt;" in text
    assert text == drawn(factorial, "A <title>")


def test_a_page_without_a_difference_says_so():
    same = table().assign(value=1.0)
    assert "No difference is shown: every interval includes zero" in drawn(compare(observations(same)), "Nothing")


def test_the_first_tables_have_what_is_claimed_and_a_page_has_all(factorial):
    made = report(factorial)
    first, *others = tables(made)
    claimed = {item.about.load for item in factorial.of("effect") if item.claim and is_first(item.about)}
    assert {row[0] for row in cells(first)} == claimed
    assert sum(len(table.rows) for table in others) >= len(factorial.differences)
    (scheduler,) = [row for row in cells(first) if row[:2] == ["mw1", "longest pause"]]
    said = line(next(item for item in factorial.of("effect") if item.about.load == "mw1" and item.claim))
    assert scheduler[3:] == [said.difference, said.interval, said.relative, said.size, said.verdict, said.change]
    assert len(tables(report(factorial, every=True, groups=True))[0].rows) > len(first.rows)


def test_what_people_ask_first_is_shown_first():
    asked = {("l1", "load", "throughput_bps"), ("l1", "load", "unplug_s"), ("w1", "write", "longest_pause_s")}
    others = {("l1", "load", "longest_pause_s"), ("w1", "write", "throughput_bps"), ("c1", "control", "unplug_s")}
    assert {about for about in asked | others if is_headline(About(*about))} == asked


def test_a_drawing_has_no_finer_numbers_than_it_needs_and_says_what_it_said():
    figure = new_figure(2.0)
    figure.text(0.1, 0.5, "at 1.23456 s")
    figure.add_axes((0.1, 0.1, 0.8, 0.3)).plot([0, 1 / 3], [0, 2 / 3])
    drawn = svg(figure)
    assert "<!-- at 1.23456 s -->" in drawn
    without = re.sub(r"<!--.*?-->|scale\([^)]*\)", "", drawn, flags=re.DOTALL)
    assert not re.search(r"\d\.\d{3}", without)
    assert "scale(0.015625)" in drawn
    used, made = (set(re.findall(f'{name}="#?(l-[^"]*)"', drawn)) for name in ("href", "id"))
    assert used
    assert used <= made
