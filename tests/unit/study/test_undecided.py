"""Which cells of a study need more seeds."""

import json

import numpy as np
import pandas as pd

from wblab.analysis.groups.observations import looks_at
from wblab.analysis.statistics.decision import for_looks, looks
from wblab.study.undecided import undecided


def table(seeds, **means):
    """Return a table in which each cell's longest pause is so long, with a spread of 1 s."""
    random = np.random.default_rng(2)
    return pd.DataFrame([
        {"cell": cell, "seed": seed, "run": f"{cell}-s{seed}", "load": "mw1", "kind": "multiwrite"}
        | {"metric": "longest_pause_s", "value": mean + random.normal(0, 1)}
        for seed in range(1, seeds + 1)
        for cell, mean in means.items()
    ])  # fmt: skip


def test_what_differs_clearly_needs_no_more_seeds():
    found = undecided(table(8, none=100, less=50, alike=101, same=100), for_looks(3))
    assert "less" not in found
    assert "same" not in found  # within 5 %


def test_what_overlaps_needs_more():
    assert undecided(table(5, none=5, other=5.5), for_looks(3)) == {"other"}
    assert undecided(table(2, none=100, less=50), for_looks(3)) == {"less"}  # too few for any interval


def test_a_study_of_one_cell_has_nothing_to_decide():
    assert undecided(table(3, none=1), for_looks(3)) == set()


def test_looks_share_the_error():
    assert looks(34) == (3, 5, 8, 13, 21, 34)
    assert for_looks(5).confidence == 0.99


def test_the_looks_at_a_study_are_in_its_record(tmp_path):
    for name, about in (("a", {"looks": 6}), ("b", {}), ("c", {"looks": "many"}), ("d", {"looks": -1})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.json").write_text(json.dumps({"about": about}))
    assert [looks_at([name], tmp_path) for name in "abcd"] == [6, 1, 1, 1]
    assert looks_at(["no study"], tmp_path) == 1


def test_the_record_of_a_large_study_is_read(tmp_path):
    cells = [{"name": "x" * 1000}] * 9000  # 9 MB: more than other JSON files may have
    (tmp_path / "study.json").write_text(json.dumps({"about": {"looks": 6}, "cells": cells}))
    assert looks_at([str(tmp_path)], tmp_path) == 6
