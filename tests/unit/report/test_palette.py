"""Colours and words of outcomes."""

import re

import pytest

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.lab.places import ROOT
from wblab.report.palette import DARK, LOOKS, NO, OPEN, WHITE, YES, contrast, look_of

PAGES = sorted((ROOT / "wblab").rglob("templates/*.html"))
BASE = ROOT / "wblab/report/templates/base.html"
PARTS = {
    *(ROOT / "wblab/report/templates" / name for name in ("blocks.html", "fragment.html")),
    ROOT / "wblab/publish/site/templates/card.html",
}  # of pages


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#a3261b", "#a3261b") == 1


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.style)
def test_every_outcome_can_be_read_on_light_and_dark_pages_and_on_its_tint(look):
    assert min(contrast(look.colour, WHITE), contrast(look.colour, look.tint)) >= 4.5
    assert min(contrast(look.dark, DARK), contrast(look.dark, look.dark_tint)) >= 4.5


def test_there_is_one_green_and_one_red_and_a_sign_for_each():
    assert {look.colour for look in LOOKS} == {YES, NO, OPEN}
    assert len({look.sign for look in LOOKS}) == len({look.style for look in LOOKS}) == len(LOOKS)


def test_outcomes_of_claims_and_of_the_trial_look_alike():
    assert look_of(REPRODUCED) == look_of(REPRODUCED)
    assert look_of(NOT_REPRODUCED) == look_of(NOT_REPRODUCED)
    assert {look_of(word).style for word in (HARMS, NOT_DECIDED, NOT_TESTABLE)} == {"harm", "undecided", "untestable"}


def test_every_page_extends_the_base_and_has_no_outcome_s_colour_of_its_own():
    pages = [page for page in PAGES if page not in {BASE, *PARTS}]
    assert len(pages) == 18
    for page in pages:
        text = page.read_text()
        # The site's has the base.
        assert text.startswith(('{% extends "base.html" %}', '{% extends "site.html" %}')), page
        assert not re.findall(r"<!doctype|#14691f|#00684c|#a3261b|#a84300|#8a5a00", text, re.IGNORECASE), page
