"""The headline says what the rows say; the mail fits; the page shows no placeholder."""

import shlex
import subprocess
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compared import FULL, asked, found, renamed
from support.pages import Page, slips, words

from wblab.analysis.runs.builds import SHARE
from wblab.study.designs.ab.figures import undecided
from wblab.study.designs.ab.mail import WIDTH, command, mail
from wblab.study.designs.ab.page import page
from wblab.study.designs.ab.repeated import Repeated
from wblab.study.designs.ab.result import to_json
from wblab.study.designs.ab.text import WIDTH as TEXT_WIDTH
from wblab.study.designs.ab.text import text
from wblab.study.designs.ab.words import headline, trust

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
    assert 0 < (row.reach or 0) / row.before < SHARE
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
    shown = to_json(result, said)["figures"]
    assert [item["claim"] != 0 for item in shown] == [row.claimed for row in rows]
    assert ("No difference is claimed." in mail(result)) == (not claimed)


def test_complete_separation_of_too_few_is_not_decided():
    result = found(asked("a", "b"), {("base-b", "w1"): 2.0}, 3, spread=0.8)
    assert any(row.is_open for row in result.figures.rows)
    assert headline(result).startswith("Not decided: in")


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
    assert "2 of 2" not in trust(replace(differing, repeated=Repeated(("x",), ("y",))))
    assert "1 of 2 runs that were made twice did not repeat" in trust(
        replace(differing, repeated=Repeated(("x",), ("y",)))
    )
    assert "real time" in trust(replace(differing, repeated=Repeated((), ())))


def test_each_step_is_named_with_what_it_changed():
    of = asked("a", "b", "c", "d", programs="xyyz")
    result = found(of, {("base-2", "mw1"): 3.0, ("base-3", "mw1"): 3.0})
    assert {row.pair.number for row in result.figures.rows} == {0, 2}
    result = found(of, {("base-3", "mw1"): 3.0})
    assert headline(result).startswith("1 of 3 steps change a figure.")
    lines = "\n".join(text(result))
    assert "the same program, byte for byte" in lines
    assert "Step 3: subject of d" in lines
    assert "2. the same program: subject of c" in mail(result)
    assert "3. 3 figures differ: subject of d" in mail(result)
    assert slips(words(page(result))) == []


def test_nothing_to_run_is_said():
    result = found(asked("a", "b", "c", programs="xxx"))
    assert "no step changes the program" in headline(result)
    assert slips(words(page(result))) == []
    assert max(map(len, mail(result))) <= WIDTH


def test_a_page_shows_no_placeholder_and_loads_nothing(differing, alike):
    for result in (differing, alike):
        made = page(result)
        parser = Page()
        parser.feed(made)
        assert not [load for load in parser.loads if not load.startswith("#")]
        assert slips(words(made)) == []
        assert headline(result).split(".")[0] in " ".join(words(made))
    assert "96 % throttled" in page(differing)
    assert "CONFIG_HZ" in page(differing)


def test_a_page_is_safe_from_what_others_wrote(differing):
    evil = "<script>alert(1)</script>"
    made = page(renamed(differing, label=evil, subject=evil, source=evil, command=evil))
    assert "<script>" not in made


def test_the_text_fits_a_terminal(differing):
    assert max(map(len, text(differing))) <= TEXT_WIDTH


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=300)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(label=TEXTS, subject=TEXTS, source=TEXTS, arguments=st.lists(TEXTS, max_size=6))
def test_a_mail_is_never_wider_than_72_columns(differing, label, subject, source, arguments):
    said = shlex.join(["wblab", "ab", *arguments])
    lines = mail(renamed(differing, label=label, subject=subject, source=source, command=said))
    assert max(map(len, lines)) <= WIDTH
    assert not any("\n" in line for line in lines)


PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200)


@settings(max_examples=60, deadline=None)
@given(arguments=st.lists(PLAIN, min_size=1, max_size=8))
def test_a_wrapped_command_is_the_same_command(arguments):
    lines = command(["printf", r"%s\0", *arguments], 4)
    assert max(map(len, lines)) <= WIDTH
    done = subprocess.run(["sh", "-c", "\n".join(lines)], check=True, capture_output=True)
    assert done.stdout.decode().split("\0")[:-1] == arguments


@pytest.mark.parametrize(("longer", "spread"), [(0.03, 0.001), (0.01, 0.0), (-0.01, 0.0)])
def test_what_two_builds_of_one_kernel_differ_by_is_not_claimed(longer, spread):
    of_builds = found(BOTH, {("base-b", "mw1"): longer}, spread=spread)
    assert any(row.difference.claim for row in of_builds.figures.rows)
    assert not of_builds.figures.claimed
    assert headline(of_builds).startswith("No difference is shown")
    assert "as two builds differ: " in " ".join(text(of_builds))
    assert all(not figure["claim"] and not figure["gain"] for figure in to_json(of_builds, "")["figures"])


def test_of_one_program_every_difference_is_distrusted():
    same = found(asked("7.2", "./linux", programs="aa"), {("base-b", "mw1"): 0.03}, spread=0.001)
    assert not same.figures.claimed
    assert "do not trust this" in headline(same)
