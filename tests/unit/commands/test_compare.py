"""wblab compare on the command line."""

import json
from html import unescape
from pathlib import Path

import pytest
from support.originals import matrix
from support.runs import write_run

from wblab.cli import main
from wblab.lab.formats import DESIGN, EXPERIMENT

MS = 10**6


@pytest.fixture
def runs(tmp_path):
    """Two schedulers with five seeds each: mw1 stalls for slightly more than 1 s with one and 0.5 s with the other."""
    paths = []
    for scheduler, pause_ms in (("none", 1000), ("bfq", 500)):
        for seed, late_ms in enumerate((10, 20, 30, 20, 20) if scheduler == "none" else (20, 10, 30, 10, 30), 1):
            stopped = [0, 100 * MS, (200 + pause_ms + late_ms) * MS]
            path = write_run(tmp_path / f"{scheduler}-{seed}", {"c1": [0, 50 * MS], "mw1": stopped})
            content = json.loads((path / EXPERIMENT).read_text())
            content["spec"]["seed"], content["spec"]["disk"]["scheduler"] = seed, scheduler
            (path / EXPERIMENT).write_text(json.dumps(content))
            paths.append(str(path))
    return paths


@pytest.fixture
def compare(capsys):
    """Return a function that runs the verb and returns its exit code, output and errors."""

    def call(*arguments):
        code = main(["compare", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def test_a_table_lists_the_differences(compare, runs):
    code, output, errors = compare(*runs)
    assert (code, errors) == (0, "")
    sentence, _, opening, *_ = output.splitlines()
    assert opening == "disk.scheduler: bfq against none, 5 runs each."
    assert sentence == (
        "mail mw1's longest pause is 500 ms less with disk.scheduler=bfq, which is better: 0.52 instead of 1.02 s "
        "(interval of the difference: -513 to -487 ms)."
    )
    (longest,) = [line for line in output.splitlines()[2:] if "longest pause" in line]
    assert "less: better" in longest
    assert "\x1b" not in output
    assert "c1" not in output


def test_a_metric_may_be_named_as_the_table_names_it(compare, runs):
    by_name, in_words = (compare(*runs, "--metric", name)[1] for name in ("longest_pause_s", "longest pause"))
    assert by_name == in_words
    assert compare(*runs, "--metric", "longest pauses")[0] == 2


def test_two_runs_are_a_short_table(compare, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, output, _ = compare(runs[0], runs[-1])
    assert code == 0
    assert "Too few runs to claim that" in output
    assert "without an interval" not in output
    assert len(output.splitlines()) < 20


def test_page_and_terminal_say_the_same(compare, runs, tmp_path):
    three = [*runs[:3], *runs[5:8]]  # of each: too few to decide what every run shows
    for some, says in ((runs, "which is better"), (three, "not decided"), (runs[::5], "Too few runs")):
        page = tmp_path / "page.html"
        output = compare(*some, "-o", page)[1]
        sentence = output.partition("\n\n")[0]
        assert says in sentence
        assert sentence in unescape(page.read_text())
        assert ("No difference is shown" in page.read_text()) is ("No difference is shown" in sentence)


def test_for_an_exploration_the_other_verb_is_named(compare, tmp_path):
    matrix(tmp_path / "m")
    assert compare(tmp_path / "m")[2] == ""
    (tmp_path / "m" / DESIGN).write_text("{}")
    for words in ([tmp_path / "m"], ["m", "--exp", tmp_path]):
        code, _, errors = compare(*words)
        assert code == 0
        assert errors == (
            f"wblab: {words[0]}: the rows of an exploration differ in many settings at once: "
            "wblab study says which matter\n"
        )


def test_failed_runs_are_skipped_with_a_note(compare, runs, tmp_path):
    """A run that failed midway, and one that ended before any load started, as a shell pattern matches them."""
    for name, times in (("_late", {"c1": [0, 50 * MS], "mw1": [0, 100 * MS]}), ("_early", {"c1": [], "mw1": []})):
        path = write_run(tmp_path / name, times)
        content = json.loads((path / EXPERIMENT).read_text())
        (path / EXPERIMENT).write_text(json.dumps({**content, "outcome": "failed", "reason": "the guest hangs"}))
        runs.append(str(path))
    code, output, errors = compare(*runs)
    assert (code, errors) == (0, "")
    assert "- failed runs, left out: _late, _early" in output
    assert compare(*runs[-2:])[::2] == (
        2,
        "wblab: none of these runs succeeded: 'wblab why --pauses RUN' shows why a run failed\n",
    )


def test_differences_can_be_filtered(compare, runs):
    assert "c1" in compare(*runs, "--all")[1]
    output = compare(*runs, "--metric", "wait_time_s")[1]
    assert "wait time" in output
    assert "longest pause" not in output


def test_only_json_is_printed(compare, runs, tmp_path):
    code, output, _ = compare(*runs, "--json", "-o", tmp_path / "x.html", "--resampling-seed", 4)
    content = json.loads(output)
    assert (code, content["groups"], content["resampling"]["seed"]) == (0, ["none", "bfq"], 4)
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")


def test_a_baseline_and_a_picture_are_used(compare, runs, tmp_path):
    code, output, _ = compare(*runs, "--baseline", "disk.scheduler=bfq", "-o", tmp_path / "x.png")
    assert code == 0
    assert "against bfq" in output
    assert "more: worse" in output
    assert output.splitlines()[-1] == str(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_format_alone_writes_into_the_current_directory(compare, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for chosen, starts in (("html", b"<!DOCTYPE html>"), ("pdf", b"%PDF")):
        code, output, _ = compare(*runs, "--format", chosen)
        assert (code, output.splitlines()[-1]) == (0, f"comparison.{chosen}")
        assert (tmp_path / f"comparison.{chosen}").read_bytes().startswith(starts)


@pytest.mark.parametrize("name", ["table.parquet", "x.csv"])
def test_the_table_of_a_matrix(compare, runs, tmp_path, name):
    from wblab.analysis.groups.observations import runs_table

    table, _ = runs_table(map(Path, runs))
    path = tmp_path / name
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    of_matrix = compare(path, "--json")
    assert of_matrix[0] == 0
    ours, theirs = json.loads(of_matrix[1]), json.loads(compare(*runs, "--json")[1])
    assert ours["groups"] == theirs["groups"]
    assert len(ours["differences"]) == len(theirs["differences"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "disk.sheduler"], "did you mean 'disk.scheduler'?"),
        (["--by", "disk.filesystem"], "all runs have disk.filesystem = ext4"),
        (["--baseline", "bfq"], "must be KEY=VALUE"),
        (["--baseline", "disk.scheduler=kyber"], "no run has disk.scheduler = kyber"),
        (["--load", "mw2"], "no load 'mw2' (did you mean 'mw1'?)"),
        (["--metric", "longest_pause"], "did you mean 'longest_pause_s'?"),
        (["--resampling-seed", "-1"], "-1 is not at least 0"),
        (["-o", "x.gif"], "must end in .png, .svg, .pdf, .html"),
        (["-o", "x.png", "--format", "svg"], "does not end in .svg"),
        (["nowhere"], "no run 'nowhere'"),
    ],
)
def test_invalid_comparisons_are_refused_in_one_line(compare, runs, arguments, message):
    code, output, errors = compare(*runs, *arguments)
    assert (code, output) == (2, "")
    assert len(errors.splitlines()) == 1
    assert message in errors


def test_a_single_group_is_refused(compare, runs):
    code, output, errors = compare(*runs[:3])
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert "give another group to compare" in errors


def test_a_table_must_be_given_alone(compare, runs, tmp_path):
    (tmp_path / "x.csv").write_text("")
    code, _, errors = compare(*runs, tmp_path / "x.csv")
    assert code == 2
    assert "give it alone" in errors


def test_a_report_that_cannot_be_written(compare, runs, tmp_path):
    code, _, errors = compare(*runs, "--json", "-o", tmp_path / "none" / "x.html")
    assert code == 1
    assert "cannot write" in errors
