"""Tests of the changes that changed verdicts."""

from wblab.claims.sources.changes import CHANGED, METADATA_FIRST, changed_since
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


def test_a_change_is_told_only_of_the_verdict_that_it_makes():
    name = "pauses-mw1-ext4"
    assert changed_since(name, "reproduced", "6.1.192").startswith("Reproduced before Linux 6.12")
    assert changed_since(name, "not reproduced", "7.2.11") == changed_since(name, "not decided", "7.2.11") != ""
    assert changed_since(name, "reproduced", "7.2.11") == changed_since("fills-ext4", "reproduced", "7.2.11") == ""
    assert changed_since(name, "reproduced", "7.2.11+no-meta-priority") != ""
