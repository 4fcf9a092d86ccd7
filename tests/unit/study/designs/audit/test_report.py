"""A record repeats a run without the run: what it holds, what it leaves out, and what is refused."""

import json
from dataclasses import replace

import pytest
from support.runs import MS, write_run

from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.audit.report import read_record, record_of, traced_fully

CYCLES = {"w1": [0, 50 * MS, 100 * MS], "l1": [0, 7 * MS]}


def run_in(directory, boundaries=CYCLES, **record):
    return read_run(write_run(directory, boundaries, **record))


def kept(directory, run):
    path = directory / "repeat.json"
    path.write_text(json.dumps(record_of(run).to_json()))
    return path


def test_a_record_reads_back_and_the_same_run_is_the_same(tmp_path):
    run = run_in(tmp_path / "a")
    found = read_record(kept(tmp_path, run))
    assert found == record_of(run) == record_of(run_in(tmp_path / "b"))
    assert list(found.spec.load) == list(run.spec.load)


def test_other_cycles_have_another_digest(tmp_path):
    other = run_in(tmp_path / "b", CYCLES | {"w1": [0, 50 * MS, 101 * MS]})
    assert record_of(run_in(tmp_path / "a")).digest != record_of(other).digest


def test_it_names_no_path_of_the_machine(tmp_path):
    run = run_in(tmp_path / "secret")
    run = replace(run, spec=run.spec.on(str(tmp_path / "linux")))
    found = record_of(run)
    assert found.needs_kernel
    assert str(tmp_path) not in json.dumps(found.to_json())


def test_a_run_whose_kernel_had_a_path_asks_for_one(tmp_path, capsys):
    run = run_in(tmp_path / "a")
    path = kept(tmp_path, replace(run, spec=run.spec.on(str(tmp_path / "linux"))))
    assert main(["repeat", str(path)]) == 2
    assert "--kernel PATH" in capsys.readouterr().err


def test_a_record_has_nothing_to_compare_cycle_by_cycle(tmp_path, capsys):
    path = kept(tmp_path, run_in(tmp_path / "a"))
    assert main(["repeat", str(path), "--explain"]) == 2
    assert "--explain is for a run, and this is a record: leave it out" in capsys.readouterr().err


def test_the_host_s_clock_is_not_repeatable(tmp_path):
    assert record_of(run_in(tmp_path / "a")).is_repeatable
    assert not record_of(run_in(tmp_path / "b", clock="real")).is_repeatable


@pytest.mark.parametrize(
    "change",
    [
        {"digest": 5},
        {"digest": "x"},
        {"made_with": {"a": "b" * 1000}},
        {"made_with": []},
        {"spec": []},
        {"spec": {"name": "x"}},
        {"kind": "uml"},
        {"format": 2},
        {"kernel": None},
    ],
)
def test_a_stranger_s_record_is_refused(tmp_path, change):
    path = kept(tmp_path, run_in(tmp_path / "a"))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError):
        read_record(path)


def test_every_known_system_of_the_kernel_is_traced(tmp_path):
    (tmp_path / "linux").write_text("\0block\0writeback\0syscalls\0")  # the kernel lacks syscall events
    kernel = Kernel(tmp_path / "linux", None, "7.3", "7.3.0", "", (), "f00", "source", "gcc")
    spec = read_spec(PRESETS / "base.toml")
    traced = traced_fully(spec, kernel)
    assert traced.trace.events == ("block", "writeback")
    assert traced.trace.buffer >= 32 << 20
    assert (traced.load, traced.disk, traced.seed) == (spec.load, spec.disk, spec.seed)
