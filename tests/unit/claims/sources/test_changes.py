"""Tests of the changes that changed verdicts."""

from wblab.claims.sources.changes import CHANGED, METADATA_FIRST
from wblab.claims.sources.registry import WORKS
from wblab.lab.places import ROOT


def test_each_change_is_about_a_claim_and_has_a_page():
    assert CHANGED.keys() <= {claim.name for work in WORKS.values() for claim in work.claims}
    for changed in CHANGED.values():
        assert changed.before != changed.after
        assert (ROOT / "docs" / changed.by.finding).is_file()


def test_a_change_in_words():
    assert str(CHANGED["openat-ext4"]).startswith("Reproduced before Linux 6.12, not reproduced since: commit 29390bb")
    assert METADATA_FIRST.subject in str(CHANGED["openat-ext4"])
