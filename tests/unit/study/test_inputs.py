"""Reasons why two runs may differ, from their records."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.inputs import different, excuses, inputs_of

RECORD = {
    "kernel": {"build_id": "a" * 64},
    "guest": {"program_sha256": "b" * 64, "python_sha256": "c" * 64, "libraries": {"libc.so.6": "d" * 64, "m": "e"}},
    "host": {"cpu": "one", "tools": {"mke2fs": "mke2fs 1.47.0"}},
}


def run(mode="virtual", **changed):
    record = {part: values | changed.get(part, {}) for part, values in RECORD.items()}
    return SimpleNamespace(path=Path("x"), record=record, spec=read_spec(PRESETS / "base.toml", [f"clock.mode={mode}"]))


def test_runs_with_equal_inputs_have_no_excuse():
    assert excuses(run(), run()) == []


def test_programs_in_the_guest_are_inputs_only_of_runs_that_have_some():
    first, second = (run(guest={"programs": {"python3": digest, "dd": "same"}}) for digest in "ab")
    assert excuses(first, second) == ["the runs used different programs in the guest: python3 a and python3 b"]
    assert different(inputs_of(first.record), inputs_of(second.record)) == ["programs in the guest"]
    assert "programs in the guest" not in inputs_of(run().record)


def test_real_time_is_an_excuse():
    assert excuses(run(), run("real")) == ["no two runs in real time are identical"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kernel": {"build_id": "f" * 64}}, f"different kernel builds: {'a' * 40} and {'f' * 40}"),
        ({"guest": {"python_sha256": "f" * 64}}, "different Pythons"),
        (
            {"guest": {"libraries": {"libc.so.6": "f", "m": "e"}}},
            f"below Python: libc.so.6 {'d' * 40} and libc.so.6 f",
        ),
        ({"host": {"tools": {}}}, "trace-cmd or mkfs: mke2fs mke2fs 1.47.0 and mke2fs None"),
        ({"host": {"cpu": "two"}}, "processors: one and two"),
    ],
)
def test_each_differing_input_is_named(changed, said):
    (excuse,) = excuses(run(), run(**changed))
    assert said in excuse
