"""The memory that kernels leave, and the note about it."""

import json

import pandas as pd
import pytest

from wblab.analysis.runs.memory import left_bytes, unequal
from wblab.analysis.runs.observations import found_observations

LINE = "[    0.000000] Memory: {}K/153600K available (7921K kernel code, 2940K rwdata)\n"


@pytest.fixture
def make(tmp_path):
    """Return a function that makes the files of a run that matter here."""

    def write(name, left_kib, sysctl=None, **record):
        run = tmp_path / name
        run.mkdir(parents=True)
        (run / "console.log").write_text(LINE.format(left_kib) if left_kib else "no such line")
        (run / "experiment.json").write_text(json.dumps({"spec": {"sysctl": sysctl or {}}, **record}))
        return run

    return write


def test_the_console_says_what_the_kernel_left(make, tmp_path):
    assert left_bytes(make("a", 135912)) == 135912 * 1024
    assert left_bytes(make("b", 0)) is None
    assert left_bytes(tmp_path / "none") is None


def test_different_memory_is_noted(make):
    note = unequal({"7.2": make("a", 135912), "6.1": make("b", 143588)})
    assert note.startswith("the kernels leave different memory to the guest: 7.2 132.7 MiB, 6.1 140.2 MiB. ")
    assert "by up to 5.6 %" in note


def test_equal_memory_is_not_noted_nor_where_limits_are_in_bytes(make):
    assert unequal({"7.2": make("a", 135912), "6.1": make("b", 135916)}) == ""
    assert unequal({"7.2": make("c", 135912)}) == ""
    fixed = {"vm.dirty_bytes": 4194304}
    assert unequal({"7.2": make("d", 135912, fixed), "6.1": make("e", 143588, fixed)}) == ""
    equal = {"memory": {"boot_bytes": 1, "reserved_bytes": 1}}
    assert unequal({"7.2": make("i", 135912, **equal), "6.1": make("j", 143588, **equal)}) == ""
    (make("f", 143588) / "experiment.json").write_text("[]")
    assert unequal({"7.2": make("g", 135912), "6.1": make("h", 0)}) == ""


def test_a_comparison_of_kernels_has_the_note(make, tmp_path):
    rows = ["kernel,cell,seed,run,load,kind,metric,value"]
    for kernel, left in (("7.2", 135912), ("6.1", 143588)):
        for seed in (1, 2, 3):
            make(f"study/runs/{kernel}-s{seed}", left)
            rows.append(f"{kernel},{kernel},{seed},{kernel}-s{seed},w1,write,longest_pause_s,{seed / 10}")
    table = tmp_path / "study" / "table.csv"
    table.write_text("\n".join(rows))

    pd.read_csv(table, dtype={"kernel": str, "cell": str}).to_parquet(table.with_suffix(".parquet"))
    notes = found_observations([str(table.parent)], tmp_path).notes
    assert any(note.startswith("the kernels leave different memory") for note in notes)
