"""Reports of the lab as parts of a site: their figures become files, so that no page is too large."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.explored import design, observed
from support.sites import Read

from wblab.analysis.sensitivity.analysis import analyse
from wblab.analysis.sensitivity.anova import Sampling
from wblab.plot.explorationpage import exploration_page
from wblab.publish.site.adopted import adopted

FACTORS = {"limit": (8, True), "rate": (4, True), "dummy": (8, True)}


@pytest.fixture(scope="module")
def report():
    """A page of an exploration."""
    made = design(64, FACTORS)
    pause = 2.0 ** made[2][:, 0] * np.random.default_rng(1).lognormal(0, 0.2, 64)
    found = observed(made, {"pause": pause})
    return exploration_page(analyse(found, sampling=Sampling(permutations=99, resamples=50)), found, "An exploration")


def test_figures_are_files(report):
    found = adopted(report, "studies/x", lambda link: None)
    drawn = sum(len(file.content) for file in found.pictures)
    assert len(found.body.encode()) < 30_000 < drawn
    pictures = [file.address.removeprefix("studies/x/") for file in found.pictures]
    assert Read(found.body).loads == pictures
    assert len(pictures) == report.count("<svg") >= 3


def test_each_file_is_a_picture_of_its_own(report):
    for file in adopted(report, "studies/x", lambda link: None).pictures:
        assert file.address.endswith(".svg")
        assert ET.fromstring(file.content).tag == "{http://www.w3.org/2000/svg}svg"
