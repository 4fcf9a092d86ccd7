"""What `make bench` notes, and which figures it says to be worse than before."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from support.benchlog import entry, read_log, report, words
from support.timing import Spent, spent

TAKEN = [Spent(wall_s=2.0, cpu_s=cpu_s, piece_s=0.5) for cpu_s in (1.0, 1.1, 1.2)]


def slower(times):
    return [replace(item, cpu_s=item.cpu_s * times) for item in TAKEN]


def test_a_figure_is_its_median_in_units_of_the_piece_of_work():
    new = entry("base", TAKEN)
    assert (new.ratio, new.least, new.most, new.repeats) == (2.2, 2.0, 2.4, 3)
    assert (new.cpu_s, new.seconds) == (1.1, 2.0)


def test_what_is_noted_is_read_back_and_said_the_next_time(tmp_path, capsys):
    log = tmp_path / "exp" / "bench.jsonl"
    for times in (1, 2, 1.05):
        report("base", slower(times), log)
    first, second, third = capsys.readouterr().out.strip().splitlines()
    assert first.endswith("the first here")
    assert "last 2.20, best 2.20   WORSE than the last and the best" in second
    assert third.endswith("last 4.40, best 2.20")
    assert [item.ratio for item in read_log(log)] == [2.2, 4.4, 2.31]


def test_a_busier_machine_is_no_regression():
    before = entry("base", TAKEN)
    busy = [Spent(wall_s=9.0, cpu_s=item.cpu_s * 1.5, piece_s=item.piece_s * 1.5) for item in TAKEN]
    assert "WORSE" not in words(entry("base", busy), [before])


def test_only_figures_of_the_same_machine_are_set_beside():
    before = entry("base", TAKEN)
    for other in (replace(before, figure="other"), replace(before, machine="other"), replace(before, cores=99)):
        assert words(before, [other]).endswith("the first here")


def test_a_figure_of_one_repeat_is_worse_only_beyond_chance():
    before = entry("base", TAKEN[:1])
    assert not entry("base", slower(1.04)[:1]).worse_than(before)
    assert entry("base", slower(1.06)[:1]).worse_than(before)


def test_a_damaged_log_is_named_with_its_line(tmp_path):
    log = tmp_path / "bench.jsonl"
    report("base", TAKEN, log)
    with log.open("a") as file:
        file.write(json.dumps({"figure": "base"}) + "\n")
    with pytest.raises(ValueError, match="line 2 of"):
        read_log(log)


def test_the_time_of_children_counts():
    work = [sys.executable, "-S", "-c", "sum(range(3_000_000))"]
    assert spent(lambda: subprocess.run(work, check=True)).cpu_s > 2 * spent(lambda: None).cpu_s
