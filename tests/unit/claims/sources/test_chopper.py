"""Chopper's claims: verdicts from the layout of a file, and valid cases."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.chopper.claims import CHOPPER_CASES, chopper_claims
from wblab.claims.sources.registry import WORKS, chosen
from wblab.core.check import check_spec
from wblab.core.fiemap import Extent
from wblab.core.rundir import FileRecord

MIB, GIB, CHUNK = 1 << 20, 1 << 30, 32 << 10
CLAIMS = {claim.name: claim for claim in chopper_claims()}
SEEDS = 8  # enough seeds to decide a share


def lying(*physical):
    """Return a run whose file has 32 KiB extents at these places."""
    pieces = tuple(Extent(number * CHUNK, place, CHUNK) for number, place in enumerate(physical))
    return SimpleNamespace(run=SimpleNamespace(files={"l1": {"file": FileRecord(len(pieces) * CHUNK, 4096, pieces)}}))


def verdict(name, *runs):
    """Return the verdict on a claim from one run of each of its cases."""
    return CLAIMS[name].check({case: [run] * SEEDS for case, run in zip(CLAIMS[name].cases, runs, strict=True)})


TOGETHER, APART, FAR = lying(GIB), lying(0, 100 << 20), lying(0, 10 * GIB)


def test_all_claims_exist_once_and_in_order():
    numbers = [int(name[1:].partition("-")[0]) for name in CLAIMS]
    assert numbers == list(range(1, len(CLAIMS) + 1))
    assert [claim.name for claim in chosen(["H3-xfs"], "chopper")] == ["H3-xfs"]
    assert len(WORKS["chopper"].claims) == len(CLAIMS)
    for claim in CLAIMS.values():
        if not claim.cases:
            found = claim.check({})
            assert found.outcome == NOT_TESTABLE
            assert len(found.why) > 20


def test_each_run_is_valid_and_needed():
    needed = {case for claim in CLAIMS.values() for case in claim.cases}
    assert needed == set(CHOPPER_CASES)
    for case in needed:
        check_spec(replace(case_spec(case, 1), name="x"))
        assert CASES[case].preset == "chopper"


def test_a_file_over_a_gibibyte_wide_is_spread():
    found = verdict("H1-far", FAR)
    assert (found.outcome, found.effect.middle) == (REPRODUCED, 10 * 1024 + CHUNK / MIB)
    assert verdict("H1-far", APART).outcome == NOT_REPRODUCED
    assert verdict("H3-xfs", FAR).outcome == NOT_REPRODUCED
    assert verdict("H3-xfs", APART).outcome == REPRODUCED


@pytest.mark.parametrize("name", ["H5-disk", "H6-size", "H7-sync", "H8-fsync", "H9-order"])
def test_with_the_right_factors_a_file_is_not_spread(name):
    assert verdict(name, TOGETHER).outcome == verdict(name, APART).outcome == REPRODUCED
    assert verdict(name, FAR).outcome == NOT_REPRODUCED


@pytest.mark.parametrize("name", ["H10-used", "H11-layout", "H12-span", "H13-density"])
def test_with_irrelevant_factors_a_file_is_still_spread(name):
    assert verdict(name, FAR).outcome == REPRODUCED
    assert verdict(name, APART).outcome == NOT_REPRODUCED


def test_a_special_end_splits_the_file_in_two():
    assert verdict("H14-special-end", APART).outcome == REPRODUCED
    assert verdict("H14-special-end", TOGETHER).outcome == NOT_REPRODUCED
