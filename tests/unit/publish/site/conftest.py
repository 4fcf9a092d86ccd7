"""A site with a study of a stranger, and a gallery of one run."""

import pytest
from support.madesites import HOSTILE, NO_KERNEL, study_in

from wblab.analysis.runs.run import read_run
from wblab.lab.progress import silent
from wblab.publish.site.build import UP, SiteContent, files, gallery_page
from wblab.publish.site.runpage import ShownRun, run_files
from wblab.publish.site.write import write
from wblab.study.cells import run_name


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    return study_in(tmp_path_factory.mktemp("exp") / "2026-01-02_hostile")


@pytest.fixture(scope="session")
def site(study, tmp_path_factory):
    """The directory of a site with the study, and a gallery of one run."""
    out = tmp_path_factory.mktemp("out") / "site"
    made = {
        file.address: file for file in files(SiteContent((), [study.path], 2), study.path.parent, NO_KERNEL, silent)
    }
    run = read_run(study.runs / run_name(study.plan.cells[0], 1))
    shown = ShownRun(run, "runs/odd", "odd", HOSTILE, UP)
    made |= {file.address: file for file in (*run_files(shown), gallery_page([shown]))}
    write(out, made.values())
    return out
