"""Pauses of a timeline in the colours of their causes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from wblab.analysis.runs.pauses import around, between
from wblab.analysis.why.account import ASLEEP, RUNNABLE, RUNNING, UNEXPLAINED
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.kinds import KINDS
from wblab.plot.causes import OTHER, causes_of, in_words
from wblab.plot.loadpanes import cycles
from wblab.plot.page import page
from wblab.plot.picture import picture
from wblab.plot.style import FAMILIES, INNOCENT, OFFENDERS, PAUSE, cause_colour, cause_colours
from wblab.plot.timeline import timeline

NS = 10**9
# Colours as seen by people without one of three kinds of cones, in linear RGB: G. Machado et al., "A
# Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1.
SEEN = {
    "all": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
APART = 15  # CIE 1976; a difference visible side by side is about 2.3
STEP = 7.5  # of lightness


def lab(colour, seen):
    """Return a colour as a colour-blind or other reader sees it, in CIELAB."""
    part = np.array(list(bytes.fromhex(colour[1:]))) / 255
    linear = seen @ np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN)
def test_families_of_causes_and_loads_are_told_apart_whoever_looks(seen):
    waits = [colour for colour, kinds in FAMILIES.items() if not {RUNNING, RUNNABLE, ASLEEP}.intersection(kinds)]
    colours = {colour: lab(colour, SEEN[seen]) for colour in (*waits, *INNOCENT[:2], OFFENDERS[0])}
    apart = {pair: np.linalg.norm(colours[pair[0]] - colours[pair[1]]) for pair in combinations(colours, 2)}
    assert {pair: distance for pair, distance in apart.items() if distance < APART} == {}


def test_the_eight_families_differ_in_lightness():
    lightness = sorted(lab(colour, SEEN["all"])[0] for colour in list(FAMILIES)[:8])
    assert min(np.diff(lightness)) > STEP
    greys = [lab(cause_colour(what), SEEN["all"])[0] for what in (RUNNING, RUNNABLE, ASLEEP)]
    assert max(np.diff(greys)) < -2 * STEP


def test_every_cause_has_a_colour_of_its_own():
    names = {kind.name for kind in KINDS if kind.nature == "waits"} | {RUNNING, RUNNABLE, UNEXPLAINED}
    assert len(set(cause_colours(names).values())) == len(names)
    assert cause_colour("throttled") == PAUSE


def explained(run, parts, load="mw1"):
    """Return an explanation of a load's longest pause with these parts, in ns."""
    item = run.load(load)
    row = int(item.pauses_ns.argmax())
    start_ns, end_ns = (int(item.boundaries_ns[at]) - run.zero_ns for at in (row, row + 1))
    return Explanation(load, 1, start_ns, end_ns, int(item.pauses_ns[row]), parts, (), ())


@pytest.fixture
def found(run):
    """The longest pause of mw1, a third of which is unknown, with a little besides."""
    pause_ns = int(run.load("mw1").pauses_ns.max())
    little = pause_ns // 200
    return explained(run, {"commit": pause_ns - pause_ns // 3 - little, UNEXPLAINED: pause_ns // 3, RUNNING: little})


def test_a_pause_is_parted_to_its_height(run, found):
    causes = causes_of([found], run.zero_ns)
    assert causes.names == ("commit", UNEXPLAINED, OTHER)
    assert causes.listed == ("commit", UNEXPLAINED)
    blocks = causes.of(cycles(run.load("mw1"), {"mw1": "black"})).reduced(10)
    (row,) = np.flatnonzero(blocks.explained)
    assert sum(part.seconds[row] for part in blocks.parts) == pytest.approx(found.pause_ns / NS)
    assert blocks.pauses_s[row] == pytest.approx(found.pause_ns / NS)
    assert blocks.hover[row].startswith("mw1 was stalled for ")
    assert [part.is_hatched for part in blocks.parts] == [False, True, False]


def test_other_loads_and_rounds_are_as_they_were(run, found):
    causes = causes_of([found], run.zero_ns)
    assert causes.of(cycles(run.load("w1"), {"w1": "black"})).parts == ()
    plain, parted = timeline(run), timeline(run, explained=[])
    assert [meaning.text for meaning in plain.meanings] == [meaning.text for meaning in parted.meanings]


def test_picture_and_page_name_the_causes_and_have_their_colours(run, found):
    shown = timeline(run, explained=[found])
    texts = [text.get_text() for text in picture(shown).legends[0].get_texts()]
    assert texts[-2:] == ["paused for over 300 ms: commit", UNEXPLAINED]
    whole = page(shown)
    (blocks,) = blocks_of(whole, "mw1")
    commit, unknown = ({part["name"]: part for part in blocks["parts"]}[name] for name in ("commit", UNEXPLAINED))
    assert commit["colour"][0] == cause_colour("commit")
    assert (commit["hatched"], unknown["hatched"]) == (False, True)
    assert list(unknown["y"].values()) == pytest.approx([found.parts[UNEXPLAINED] / NS], rel=1e-3)
    assert "paused for over 300 ms: commit" in [meaning["text"] for meaning in whole["meanings"]]


def blocks_of(whole, load):
    return [mark for pane in whole["panes"] for mark in pane["marks"] if mark.get("name") == load]


def said(run, found):
    """Return the hover text of that pause."""
    (blocks,) = blocks_of(page(timeline(run, explained=[found])), found.load)
    (lines,) = blocks["hover"].values()
    return "\n".join(lines)


def test_who_points_at_a_pause_reads_why_it_was(run, found):
    assert said(run, found) == in_words(found)


def test_a_window_names_only_the_causes_in_it(run, found):
    close = timeline(run, window=around(run, "mw1"), explained=[found])
    assert any("commit" in meaning.text for meaning in close.meanings)
    before = timeline(run, window=between(run, 0, found.start_ns // 2), explained=[found])
    assert not any("commit" in meaning.text for meaning in before.meanings)


def test_names_of_tasks_in_what_is_said_are_printable(run, found):
    cause = Cause("commit", "for <b>", NS, 1, NS, "fsync", (), (), "<i>\x1b", -1, "", "", None, {}, {}, ())
    text = said(run, replace(found, causes=(cause,)))
    assert "for <b>, until <i>\\x1b woke it" in text  # the page's script shows it as text
    assert "\x1b" not in text
