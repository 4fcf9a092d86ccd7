"""The headline says what the rows say, and the report claims nothing else."""

import shlex
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compared import FULL, asked, found, renamed
from support.pages import Page, slips, words
from support.reports import tables, texts

from wblab.analysis.runs.metrics import OF_BUILDS_SHARE
from wblab.report.page import page
from wblab.report.text import MAIL_WIDTH, mail
from wblab.study.designs.ab.figures import undecided
from wblab.study.designs.ab.made import RepeatedRuns
from wblab.study.designs.ab.report import headline, report, trust

BOTH = asked("7.2", "7.2+variant", differs=FULL)
LONGER = {("base-b", "w1"): 0.5, ("base-b", "mw1"): 3.0}


@pytest.fixture(scope="module")
def differing():
    return found(BOTH, LONGER)


@pytest.fixture(scope="module")
def alike():
    return found(BOTH)


def test_the_largest_difference_comes_first(differing):
    rows = differing.figures.claimed
    assert [row.about.load for row in rows] == ["mw1"] * 3 + ["w1"] * 3
    assert headline(differing).startswith("6 of 6 figures differ. The largest: base, mw1's")
    assert "instead of 1.0" in headline(differing)


def test_without_a_difference_the_headline_says_how_small_one_would_have_been_seen(alike):
    assert not alike.figures.claimed
    said = headline(alike)
    assert said == (
        "No difference is shown in 6 figures. Each of the 4 figures of pauses would have shown a difference above 5 %."
    )
    row = max(alike.figures.rows, key=lambda row: (row.reach or 0) / row.before)
    assert 0 < (row.reach or 0) / row.before < OF_BUILDS_SHARE
    said = headline(found(BOTH, spread=0.2))
    assert said.startswith("No difference is shown in 6 figures. Of the 4 figures of pauses, half would have shown")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    longer=st.dictionaries(st.sampled_from(sorted(LONGER)), st.sampled_from([0.0, 0.01, 0.3, -0.5])),
    seeds=st.sampled_from([1, 2, 3, 5, 8]),
    spread=st.sampled_from([0.0, 0.01, 0.3]),
)
def test_the_headline_never_contradicts_the_rows(longer, seeds, spread):
    result = found(BOTH, longer, seeds, spread=spread)
    said, rows = headline(result), result.figures.rows
    claimed = [row for row in rows if row.claimed]
    assert said.startswith(f"{len(claimed)} of {len(rows)} figures differ") == bool(claimed)
    assert said.startswith("No difference is shown") == (
        not claimed and not any(row.is_open for row in rows) and any(row.difference.interval.known for row in rows)
    )
    made = report(result)
    assert [item["claim"] != 0 for item in made.data["figures"]] == [row.claimed for row in rows]
    first = next((table for table in tables(made, "terminal") if table.columns[0].head == "spec"), None)
    assert len(first.rows if first else ()) == len(claimed)
    assert ("No difference is claimed." in texts(made)) == (not claimed)


def test_complete_separation_of_too_few_is_not_decided():
    result = found(asked("a", "b"), {("base-b", "w1"): 2.0}, 3, spread=0.8)
    assert any(row.is_open for row in result.figures.rows)
    assert headline(result).startswith("Seen, but not decided: in")


def test_what_is_undecided_gets_more_seeds(differing, alike):
    assert undecided(differing.figures) == []
    assert undecided(alike.figures) == []  # shown to be less than a twentieth
    noisy = found(BOTH, {}, 3, spread=0.5)
    assert [pair.before.name for pair in undecided(noisy.figures)] == ["base-a"]


def test_the_same_program_is_said_and_a_difference_of_it_distrusted(differing):
    same = asked("7.2", "copy", programs="xx")
    assert headline(found(same)).startswith("A and B are the same program, byte for byte. No difference is shown")
    assert "do not trust this" in headline(replace(differing, asked=same))


def test_trust_is_what_was_checked(differing):
    assert "checked here: 2 of 2 did" in trust(differing)
    assert "2 of 2" not in trust(replace(differing, repeated=RepeatedRuns(("x",), ("y",))))
    assert "1 of 2 runs that were made twice did not repeat" in trust(
        replace(differing, repeated=RepeatedRuns(("x",), ("y",)))
    )
    unchecked = replace(differing, repeated=RepeatedRuns((), ()))
    assert "to the bit; checked" not in trust(unchecked)
    assert "real time" in trust(replace(unchecked, is_virtual=False))


def test_each_step_is_named_with_what_it_changed():
    of = asked("a", "b", "c", "d", programs="xyyz")
    result = found(of, {("base-2", "mw1"): 3.0, ("base-3", "mw1"): 3.0})
    assert {row.pair.number for row in result.figures.rows} == {0, 2}
    made = report(found(of, {("base-3", "mw1"): 3.0}))
    assert made.headline.startswith("1 of 3 steps change a figure.")
    steps = next(table for table in tables(made) if table.columns[0].head == "step")
    assert [row.cells[:3] for row in steps.rows] == [
        ("1", "0", "subject of b"), ("2", "0", "subject of c"), ("3", "3", "subject of d")
    ]  # fmt: skip
    assert steps.rows[1].cells[3] == "the same program, byte for byte"
    assert "Step 3: subject of d" in mail(made)
    assert slips(words(page(made))) == []


def test_nothing_to_run_is_said():
    made = report(found(asked("a", "b", "c", programs="xxx")))
    assert "no step changes the program" in made.headline
    assert slips(words(page(made))) == []


def test_a_page_shows_no_placeholder_and_loads_nothing(differing, alike):
    for result in (differing, alike):
        made = page(report(result))
        parser = Page()
        parser.feed(made)
        assert not [load for load in parser.loads if not load.startswith("#")]
        assert slips(words(made)) == []
        assert headline(result).split(".")[0] in " ".join(words(made))
    assert "96 % throttled" in page(report(differing))
    assert "CONFIG_HZ" in page(report(differing))


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=300)
TEXTS = TEXTS.filter(lambda text: not slips([text]))  # others may call something NaN


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(label=TEXTS, subject=TEXTS, source=TEXTS, arguments=st.lists(TEXTS, max_size=6))
def test_what_others_wrote_neither_widens_a_mail_nor_marks_up_a_page(differing, label, subject, source, arguments):
    said = shlex.join(["wblab", "ab", *arguments])
    evil = "<script>alert(1)</script>"
    made = report(renamed(differing, label=label + evil, subject=subject, source=source, command=said))
    lines = mail(made)
    assert max(map(len, lines)) <= MAIL_WIDTH
    assert not any("\n" in line for line in lines)
    assert "<script>" not in page(made)


@pytest.mark.parametrize(("longer", "spread"), [(0.03, 0.001), (0.01, 0.0), (-0.01, 0.0)])
def test_what_two_builds_of_one_kernel_differ_by_is_not_claimed(longer, spread):
    of_builds = found(BOTH, {("base-b", "mw1"): longer}, spread=spread)
    assert any(row.difference.claim for row in of_builds.figures.rows)
    assert not of_builds.figures.claimed
    assert headline(of_builds).startswith("No difference is shown")
    assert any(note.startswith("as two builds differ: ") for note in report(of_builds).notes)
    assert all(not figure["claim"] and not figure["gain"] for figure in report(of_builds).data["figures"])


def test_of_one_program_every_difference_is_distrusted():
    same = found(asked("7.2", "./linux", programs="aa"), {("base-b", "mw1"): 0.03}, spread=0.001)
    assert not same.figures.claimed
    assert "do not trust this" in headline(same)
