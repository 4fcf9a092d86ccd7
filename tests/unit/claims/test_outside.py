"""Who is about to set something reads what stock kernels did with settings of that kind."""

import json
import shutil

import pytest

from wblab.claims import outside
from wblab.lab.places import OUTSIDE
from wblab.report import elsewhere


def test_each_kind_of_setting_names_its_statements_and_where_they_hold():
    head, *lines = elsewhere.confirmed(["nr_requests"])
    assert head == "Tried outside of User Mode Linux:"
    assert all(" in QEMU with " in line for line in lines)
    assert sum(line.startswith("- With a queue of 512 KiB") for line in lines) == 2


def test_a_kind_that_nobody_tried_is_said():
    assert elsewhere.confirmed(["dirty_expire_centisecs"]) == [
        "Nothing of this kind was tried outside of User Mode Linux."
    ]


@pytest.mark.parametrize(
    ("four", "said"),
    [
        ([0.1, 0.1, 0.1], "in every run on Linux 7.2.11+deb13-amd64 in QEMU with 1 and 4 processors."),
        ([5.0, 5.0, 0.1], "in every run with 1, in some runs with 4 (on Linux 7.2.11+deb13-amd64"),
        ([5.0, 5.0, 5.0], "in every run with 1, in no run with 4 (on Linux"),
    ],
)
def test_substrates_that_differ_are_told_apart(four, said, tmp_path):
    shutil.copytree(OUTSIDE, tmp_path / "outside")
    path = tmp_path / "outside" / "two-disks-short.json"
    answer = json.loads(path.read_text())
    for load in ("w-fast", "mw-fast"):
        answer["loads"][load]["longest_pause_s"] |= {"stock:7.2": [0.1, 0.2, 0.1], "stock:7.2@4": four}
    path.write_text(json.dumps(answer))
    assert any(said in line for line in outside.tried_outside(["nr_requests"], tmp_path / "outside"))
