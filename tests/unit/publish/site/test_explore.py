"""The page to play with: a matrix becomes knobs, and a reader guesses before a run is shown."""

import asyncio
import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest
from support.browser import browser
from support.madesites import HOSTILE, KERNEL
from support.runs import MS, write_run_of

from wblab.core.errors import InputError
from wblab.core.spec import Trace
from wblab.lab.progress import silent
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.publish.site.explore.page import explore_files
from wblab.publish.site.explore.positions import Explored, Knob, Position, explored, kept
from wblab.publish.site.explore.questions import rounds
from wblab.publish.site.explore.words import KNOBS
from wblab.study.cells import Cell, run_name
from wblab.study.plan import Plan
from wblab.study.store import Store

BYTES = "sysctl.vm.dirty_bytes=4194304"


def cycles(pause_ms):
    """Return boundaries of loads: w1 pauses once for so long, beside an l2 that hardly works."""
    end = 3000 + pause_ms
    return {
        "c1": list(range(0, end * MS, 50 * MS)),
        "w1": [0, 50 * MS, (100 + pause_ms) * MS, (150 + pause_ms) * MS],
        "mw1": [0, 100 * MS, 200 * MS],
        "l1": [0, 5900 * MS, 6900 * MS],
        "l2": [0, 43000 * MS],
    }


@pytest.fixture
def store(tmp_path):
    """A matrix of a preset with two axes of two levels; both together shorten a pause most."""
    base = replace(read_spec(SPECS.find("base-device")), trace=Trace())
    cells = []
    for at in range(4):
        less = {"vm.dirty_bytes": 4194304, "vm.dirty_background_bytes": 2097152} if at & 1 else base.sysctl
        memory = base.memory * (2 if at & 2 else 1)
        levels = {"limit": ("own", "low")[at & 1], HOSTILE: ("100 MiB", "200 MiB")[at >> 1]}
        cells.append(Cell(f"{at}-cell", levels, replace(base, sysctl=less, memory=memory)))
    (tmp_path / "study").mkdir()
    made = Store.begin(tmp_path / "study", Plan("two", (1,), tuple(cells), design="matrix"), {"": KERNEL})
    for at, cell in enumerate(cells):
        write_run_of(cell.with_seed(1), made.runs / run_name(cell, 1), cycles(4000 >> at), kernel=KERNEL)
    made.settle()
    return made


def test_a_matrix_is_knobs_with_what_each_level_sets(store):
    found = explored(store, silent)
    assert [(knob.name, knob.levels) for knob in found.knobs] == [
        ("limit", ("own", "low")),
        (HOSTILE, ("100 MiB", "200 MiB")),
    ]
    assert [one.longest_s for one in found.positions] == [4.0, 2.0, 1.0, 0.5]
    assert found.preset == "base-device"
    assert found.line(found.positions[0]).startswith("wblab run base-device")
    line = found.line(found.positions[3])
    assert f"--set {BYTES}" in line
    assert "--set sysctl.vm.dirty_ratio=0" in line
    assert "--set memory=200MiB" in line


def test_lanes_are_in_hundredths_of_a_second_and_leave_out_what_only_ends_a_run(store):
    found = explored(store, silent)
    names = [lane.name for lane in found.lanes]
    assert "l2" not in names
    position = found.positions[1]
    assert position.frozen[names.index("w1")] == (5, 200)
    assert position.frozen[names.index("c1")] == ()
    assert position.works[names.index("l1")] == (500, 690)


def test_what_is_kept_is_read_back(store, tmp_path):
    found = explored(store, silent)
    (tmp_path / "kept.json").write_text(found.to_text())
    assert kept(tmp_path / "kept.json") == found


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "kept.json").write_text(json.dumps({"format": 1, "kind": "knobs", "positions": 3}))
    with pytest.raises(InputError, match=r"kept\.json is damaged"):
        kept(tmp_path / "kept.json")


def test_a_study_that_lacks_a_run_is_refused_with_the_next_step(store):
    (store.runs / "2-cell-s1").rename(store.runs / "_2-cell-s1")
    with pytest.raises(InputError, match="2-cell has no run: wblab study --resume"):
        explored(store, silent)


def test_the_lab_s_own_positions_are_every_combination():
    found = kept()
    combinations = 1
    for knob in found.knobs:
        combinations *= len(knob.levels)
    assert len({one.at for one in found.positions}) == combinations
    assert 3 <= len(found.knobs) <= 5


def page_of(found, folder):
    for file in explore_files(found):
        (folder / file.address).write_bytes(file.content)
    return folder / "explore.html"


def test_only_the_page_s_own_script_and_style_are_permitted(store, tmp_path):
    text = page_of(explored(store, silent), tmp_path).read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    for part, tag in (("style-src", "style"), ("script-src", "script")):
        inner = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        assert f"{part} 'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" in policy
    assert HOSTILE not in text


def positions_of(*longest_s):
    """Return positions of two knobs of two levels."""
    knobs = (Knob("one", ("a", "b"), ((), ())), Knob("other", ("a", "b"), ((), ())))
    made = (Position((at >> 1, at & 1), one, (), "", (), ()) for at, one in enumerate(longest_s))
    return Explored("base", (), "7.2", "", 9.0, knobs, (), tuple(made))


def test_each_round_asks_of_each_knob_once_and_tells_before_and_after_by_one_knob():
    found = kept()
    longest = {one.at: one.longest_s for one in found.positions}
    for asked in rounds(found):
        assert [one.knob for one in asked] == list(range(len(found.knobs)))
        for one in asked:
            assert [k for k, level in enumerate(one.at) if level != one.moved[k]] == [one.knob]
            ratio = longest[one.moved] / longest[one.at]
            assert {-1: ratio <= 1 / 1.5, 0: 1 / 1.1 < ratio < 1.1, 1: ratio >= 1.5}[one.came]


def test_no_round_of_the_lab_s_own_is_answered_by_the_same_word():
    found = kept()
    practice, after = rounds(found)
    for asked in (practice, after):
        directions = [one.came for one in asked]
        assert len(set(directions)) == 3
        assert max(map(directions.count, directions)) <= 2
    assert [one.came for one in after] == [-one.came for one in practice]


def test_the_second_round_shows_no_run_of_the_first():
    practice, after = rounds(kept())
    seen, unseen = ({at for one in asked for at in (one.at, one.moved)} for asked in (practice, after))
    assert not seen & unseen


def test_nothing_is_asked_of_a_knob_that_others_turn_round():
    assert [[one.knob for one in asked] for asked in rounds(positions_of(4, 1, 0.5, 2))] == [[], []]


def test_what_is_asked_of_four_runs():
    practice, after = rounds(positions_of(4, 4, 1, 1))
    assert [(one.at, one.knob, one.to, one.came) for one in practice] in (
        [((0, 0), 0, 1, -1), ((0, 0), 1, 1, 0)],
        [((1, 0), 0, 0, 1), ((0, 0), 1, 1, 0)],
    )
    assert len(after) < len(practice)  # all four have been seen


def test_the_lab_s_own_knobs_have_words_in_the_order_in_which_data_meets_them():
    assert {knob.name for knob in kept().knobs} == set(KNOBS)
    assert (next(iter(KNOBS)), next(reversed(KNOBS))) == ("copy", "disk")


@pytest.mark.parametrize(("level", "about"), [("20 %, Linux's own", "27 MiB"), ("10 %", "13 MiB")])
def test_how_much_a_limit_is_stands_in_what_its_runs_say(level, about):
    found = kept()
    names = [knob.name for knob in found.knobs]
    at = tuple(found.knobs[names.index(name)].levels.index(level) if name == "dirty limit" else 0 for name in names)
    said = " ".join(next(one.sentences for one in found.positions if one.at == at))
    waiting = float(re.search(r"([\d.]+) MiB were waiting", said)[1])
    assert about in KNOBS["dirty limit"].about
    assert abs(waiting - float(about.split()[0])) < 0.6


async def _press(page, key, code, text=""):
    keys = {"key": key, "code": key, "windowsVirtualKeyCode": code} | ({"text": text} if text else {})
    await page.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **keys)
    await page.call("Input.dispatchKeyEvent", type="keyUp", **keys)


async def _guessed(page, guess):
    """Answer with the keyboard alone, and return whether the answer was hidden until then."""
    await page.until("!document.getElementById('ask').hidden")
    hidden = await page.value("document.getElementById('result').hidden")
    await page.value(f"document.querySelector('[data-guess=\"{guess}\"]').focus()")
    await _press(page, "Enter", 13, "\r")
    await page.until("!document.getElementById('result').hidden")
    return hidden


async def _turned(page):
    """Leave the guesses, and turn the first knob to its second level, with the keyboard alone."""
    leave = "document.getElementById('leave')"
    await page.until(f"({leave}.focus(), document.activeElement === {leave})")  # it is hidden until there are data
    await _press(page, "Enter", 13, "\r")
    await page.until("document.querySelectorAll('fieldset').length > 0")
    await page.value("document.querySelector('[name=knob-0]').focus()")
    await _press(page, "ArrowRight", 39)
    return await _guessed(page, "1")


TEXTS = "(id) => document.getElementById(id).textContent"


def test_a_run_is_shown_after_a_guess_also_on_a_narrow_screen(store, tmp_path):
    address = page_of(explored(store, silent), tmp_path).as_uri()

    async def opened():
        async with browser(address) as page:
            hidden = await _turned(page)
            await page.call(
                "Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True
            )
            wide = await page.value("document.documentElement.scrollWidth - innerWidth")
            loaded = await page.value("performance.getEntriesByType('resource').length")
            texts = await page.value(f"['verdict', 'line'].map({TEXTS})")
            return hidden, *texts, wide, loaded, page.troubles

    was_hidden, verdict, line, wide, loaded, troubles = asyncio.run(opened())
    assert was_hidden
    assert "Not so." in verdict
    assert "4.00 s became 2.00 s: shorter" in verdict
    assert (wide, loaded) == (0, 0)
    assert BYTES in line
    assert troubles == []


def test_both_rounds_are_counted_and_then_the_knobs_are_free(tmp_path):
    address = page_of(kept(), tmp_path).as_uri()
    guesses = [str(one.came) for asked in rounds(kept()) for one in asked]
    guesses[1] = "0"  # wrong

    async def opened():
        async with browser(address) as page:
            said = []
            for guess in guesses:
                await _guessed(page, guess)
                said.append(await page.value(f"['verdict', 'score'].map({TEXTS})"))
                if not await page.value("document.getElementById('next').hidden"):
                    await page.value("document.getElementById('next').focus()")
                    await _press(page, "Enter", 13, "\r")
            return said, page.troubles

    said, troubles = asyncio.run(opened())
    assert [verdict.startswith("✓") for verdict, _ in said] == [number != 1 for number in range(10)]
    assert "You foresaw 4 of 5" in said[4][1]
    assert said[9][1] == "You foresaw 5 of 5, after 4 of 5 in practice."
    assert troubles == []


def test_a_page_whose_data_cannot_be_unpacked_says_so(store, tmp_path):
    path = page_of(explored(store, silent), tmp_path)
    text = path.read_text()
    path.write_text(re.sub(r'(id="data">)[^<]*', r"\1AAAA", text))

    async def opened():
        async with browser(path.as_uri()) as page:
            await page.until("document.getElementById('loading').textContent.includes('could not unpack')")
            return await page.value("document.querySelectorAll('fieldset').length")

    assert asyncio.run(opened()) == 0
