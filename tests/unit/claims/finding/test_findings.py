"""The findings that come with the lab: each is valid, and what it says holds in the figures that are kept."""

import pytest

from wblab.analysis.runs.metrics import DISK
from wblab.claims.finding import claimtable, kept
from wblab.claims.finding.fill import plan
from wblab.claims.finding.finding import find, names, read
from wblab.claims.finding.kept import judged
from wblab.core.errors import InputError
from wblab.lab.places import FINDINGS

ALL = names()


@pytest.mark.parametrize("name", ALL)
def test_every_value_is_that_of_a_cell_of_a_matrix(name):
    finding = read(find(name))
    points = [point for point, _ in finding.shown()] + [each.point() for each in finding.trace]
    cells = dict(zip(dict.fromkeys(points), plan(name, points, 1).cells, strict=True))
    for point, value in finding.shown():
        spec = cells[point].spec
        assert set(value.loads) <= {*spec.load, *spec.disk, DISK}, f"{point}: no load or disk of these"


@pytest.mark.parametrize("name", ALL)
def test_every_figure_is_kept_and_every_statement_holds_in_it(name):
    finding, values = read(find(name)), kept.read(FINDINGS / name)
    for point, value in finding.shown():
        assert len(values[point].values(value)) == len(values[point].seeds)
    verdicts = claimtable.read(FINDINGS / name)
    for table in finding.claims.values():
        assert {(kernel, claim) for kernel in table.kernels for claim in table.rows.values()} <= verdicts.keys()
    assert [one.statement.text for one in judged(finding, values) if not one.holds] == []
    assert len(judged(finding, values)) == len(finding.statement)


def test_an_unknown_finding_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"no finding 'none': choose from"):
        find("none")
    with pytest.raises(InputError, match="did you mean 'low-limits-beside-a-slow-disk'"):
        find("low-limits-beside-slow-disk")


BROKEN = """
title = "t"
claim = "c"
since = "s"
pays = "p"
helps = "h"
[[statement]]
text = "it is"
value = "one"
{how}
[value.one]
matrix = "base"
loads = ["w1"]
"""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("", "give either 'are' or 'shorter'"),
        ('are = "stalled"\nshorter = "one"', "give either 'are' or 'shorter'"),
        ('shorter = "on"', "no value 'on' .did you mean 'one'"),
        ('are = "stuck"', "'stuck' is not one of"),
    ],
)
def test_a_statement_that_cannot_be_tested_is_refused(how, said, tmp_path):
    (tmp_path / "finding.toml").write_text(BROKEN.format(how=how))
    with pytest.raises(InputError, match=said):
        read(tmp_path)
