"""The pictures of the docs: each is there, small, and says on every page what one sees on it."""

import tomllib

import pytest
from picturekinds import bars
from pictures import ROOT, WORDS, file_of, listed, pages, shown
from PIL import Image

from wblab.lab.places import FINDINGS
from wblab.lessons.lesson import lessons
from wblab.lessons.page import PICTURE_WORDS

LISTED = listed()
FINDING_PAGES = (ROOT / "docs/findings").glob("*.md")


def words(name):
    with Image.open(file_of(name, LISTED[name])) as picture:
        return picture.info[WORDS]


@pytest.mark.parametrize("name", LISTED)
def test_a_picture_is_small_and_says_what_one_sees(name):
    most = 100_000 if "study" in LISTED[name] else 60_000
    assert file_of(name, LISTED[name]).stat().st_size < most, "docs/pictures.py writes few colours"
    assert len(words(name)) > 20


@pytest.mark.parametrize("name", [name for name, given in LISTED.items() if not {"lesson", "card"} & given.keys()])
def test_a_page_shows_it_with_these_words_and_a_wheel_has_it(name):
    found = [said for page in pages() for said, _ in shown(name).findall(page.read_text())]
    assert found
    assert set(found) == {words(name)}, "make pictures"
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert f"misc/{name}.png" in wheel["force-include"]


def test_the_card_is_as_large_as_others_show_it():
    file = file_of("card", LISTED["card"])
    with Image.open(file) as picture:
        assert picture.size == (1200, 630)
    assert file.stat().st_size < 100_000


@pytest.mark.parametrize("name", [name for name, given in LISTED.items() if "bars" in given])
def test_bars_are_what_the_page_s_table_says(name):
    assert bars(LISTED[name])[1] == words(name), "make pictures"


def test_a_page_of_findings_begins_with_a_picture_or_is_a_table():
    without = {page.name for page in FINDING_PAGES if "/misc/" not in page.read_text().split("\n## ")[0]}
    tables = {
        "atlas.md",
        "crypt-and-loop.md",
        "patches-on-trial.md",
        "results-of-folk-wisdom.md",
        "served.md",
        "swap.md",
    }
    assert without == tables


def test_every_lesson_and_every_finding_has_one():
    assert {given["lesson"] for given in LISTED.values() if "lesson" in given} == {one.name for one in lessons()}
    for given in LISTED.values():
        if "lesson" in given:
            assert file_of("", given).with_name(PICTURE_WORDS).read_text().endswith(".\n")
    for page in FINDINGS.glob("*/page.md"):
        assert "/misc/" in page.read_text().split("\n## ")[0], page
