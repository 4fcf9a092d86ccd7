"""Reports of the lab as parts of a site: their figures become files, so that no page is too large."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.explored import design, observed
from support.sites import Read

from wblab.analysis.sensitivity.analysis import analyse
from wblab.analysis.sensitivity.anova import Sampling
from wblab.plot.exploration import drawn_report
from wblab.publish.site.page import placed
from wblab.report.page import fragment
from wblab.report.report import Report, Row, Span, Table

FACTORS = {"limit": (8, True), "rate": (4, True), "dummy": (8, True)}


@pytest.fixture(scope="module")
def report():
    """The report of an exploration."""
    made = design(64, FACTORS)
    pause = 2.0 ** made[2][:, 0] * np.random.default_rng(1).lognormal(0, 0.2, 64)
    found = observed(made, {"pause": pause})
    return drawn_report(analyse(found, sampling=Sampling(permutations=99, resamples=50)), found, "An exploration")


def test_each_figure_is_a_file_of_its_own(report):
    shown, pictures = placed(report, "studies/x", lambda link: None)
    body = fragment(shown, 3)
    assert len(body.encode()) < 30_000 < sum(len(file.content) for file in pictures)
    names = [file.address.removeprefix("studies/x/") for file in pictures]
    assert Read(body).loads == names
    assert len(names) == fragment(report, 3).count("<svg") >= 3
    for file in pictures:
        assert file.address.endswith(".svg")
        assert ET.fromstring(file.content).tag == "{http://www.w3.org/2000/svg}svg"


def test_links_lead_to_the_sites_pages_or_nowhere():
    row = Row((Span("a", link="runs/a"), Span("b", link="runs/b"), Span("c", link="#below")))
    shown, _ = placed(Report("", "", (Table((), (row,)),)), "x", {"runs/a": "a/index.html"}.get)
    (table,) = shown.blocks
    assert [cell.link for cell in table.rows[0].cells] == ["a/index.html", "", "#below"]
