"""Squares read back, and their page."""

import json

import pytest

from wblab.atlas.made import Made, is_current, read
from wblab.atlas.page import counts, write_page
from wblab.atlas.square import Plan, Square
from wblab.core.errors import InputError
from wblab.lab.formats import MADE_OF, VERDICTS, VERIFICATION

XFS, EXT4 = (Square("7.2", filesystem, "li") for filesystem in ("xfs", "ext4"))
CLAIM = {"name": "linear", "says": "a <claim>", "source": "s", "verdict": "reproduced", "why": 'it "held"'}
OTHER = CLAIM | {"name": "other", "verdict": "can't be tested here"}


def keep(atlas, square, *claims):
    (atlas / square.name).mkdir(parents=True)
    content = VERIFICATION.head() | {"kernel": {"release": "7.2.11"}, "claims": claims}
    (atlas / square.name / VERDICTS).write_text(json.dumps(content))
    (atlas / square.name / MADE_OF).write_text("this\n")
    return read(square, atlas)


def test_a_square_says_how_its_claims_came_out(tmp_path):
    made = keep(tmp_path, XFS, CLAIM, OTHER)
    assert (made.square, made.release) == (XFS, "7.2.11")
    assert counts(made) == {"reproduced": 1, "not reproduced": 0, "can't be tested here": 1}


def test_a_square_is_current_as_long_as_it_would_come_out_the_same(tmp_path):
    keep(tmp_path, XFS, CLAIM)
    assert is_current(Plan(XFS, None, [], 1, [], {}, "this"), tmp_path)
    assert not is_current(Plan(XFS, None, [], 1, [], {}, "that"), tmp_path)
    assert not is_current(Plan(EXT4, None, [], 1, [], {}, "this"), tmp_path)


def test_each_mark_leads_to_the_claim_in_its_report(tmp_path):
    made = [keep(tmp_path, EXT4, CLAIM), keep(tmp_path, XFS, CLAIM | {"verdict": "not reproduced"}, OTHER)]
    text = write_page(made, tmp_path).read_text()
    assert 'href="7.2_ext4_li/report.html#linear" title="reproduced: it &#34;held&#34;">●</a>' in text
    assert 'href="7.2_xfs_li/report.html#linear" title="not reproduced: ' in text
    assert 'href="7.2_xfs_li/report.html#other"' in text
    assert 'href="7.2_ext4_li/report.html#other"' not in text
    assert "a &lt;claim&gt;" in text
    assert "Linux 7.2.11" in text


@pytest.mark.parametrize("change", [{"claims": [{"name": "x"}]}, {"claims": 5}, {"kernel": []}, {"kernel": {}}])
def test_a_damaged_square_is_named_with_what_to_do(tmp_path, change):
    keep(tmp_path, XFS, CLAIM)
    path = tmp_path / XFS.name / VERDICTS
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"verdicts\.json is damaged .*: remove .*7\.2_xfs_li"):
        read(XFS, tmp_path)


def test_the_squares_of_an_atlas_have_names_of_directories():
    assert Made(XFS, "7.2.11", []).square.name == "7.2_xfs_li"
