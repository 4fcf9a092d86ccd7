"""The record of an advice, and its report."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import MACHINE, SITE, advice_for
from support.reports import blocks, cells, tables, texts

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.live.advise.advicefile import advice_in, latest_advice, read_advice
from wblab.live.advise.begin import loads_like
from wblab.live.advise.figures import RemedyFigures, RemedyOutcome, figures
from wblab.live.advise.plan import plan
from wblab.live.advise.record import advice_of, packed
from wblab.live.advise.remedies import read_remedies
from wblab.live.advise.report import report
from wblab.live.advise.result import AdviceResult, rows_of
from wblab.live.advise.settings import WantedSetting
from wblab.live.twin.result import Match
from wblab.report.report import Lines
from wblab.report.text import lines
from wblab.study.store import Store

SEEDS = range(1, 6)


def kept(directory, advice):
    for name, content in packed(advice).items():
        (directory / name).write_bytes(content)
    return directory


def test_an_advice_is_stored_and_read_back(tree, tmp_path):
    planned = plan(MACHINE, SITE, read_remedies(), SEEDS)
    advice = advice_of(planned, SITE, {"about": ("machine", "twin"), "notes": ("busy",), "rates": (1, 2)})
    assert read_advice(kept(tmp_path, advice)) == advice
    shown = {str(Path(path).relative_to(tree)): value for path, value in advice.before.items()}
    assert shown["vm/dirty_ratio"] == "20"
    assert shown["block/sda/queue/scheduler"] == "mq-deadline"
    assert "vm/dirty_bytes" not in shown
    assert advice_in(Store(tmp_path, planned.plan, {})) == advice
    pair = advice.pairs[0]
    with_pair = replace(planned.plan, cells=(*planned.plan.cells, *pair.cells))
    assert advice_in(Store(tmp_path, with_pair, {})).candidates == (*advice.candidates, pair.candidate)
    with pytest.raises(InputError, match="belongs to another study"):
        advice_in(Store(tmp_path, replace(planned.plan, cells=planned.plan.cells[1:]), {}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"site": 7}, "is damaged: site must be a table"),
        ({"candidates": [{"name": "x"}]}, "is damaged"),
        ({"factor": "much"}, "is damaged"),
        ({"kind": "matrix"}, "is of kind 'matrix'"),
        ({"format": 9}, "has format 9"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_a_damaged_advice_is_refused_in_one_line(tmp_path, change, message):
    kept(tmp_path, advice_for())
    table = json.loads((tmp_path / "advice.json").read_text()) | change
    (tmp_path / "advice.json").write_text(json.dumps(table))
    with pytest.raises(InputError, match=message):
        read_advice(tmp_path)


def test_the_latest_advice_is_found(tmp_path):
    with pytest.raises(InputError, match="make one with wblab advise"):
        latest_advice(tmp_path)
    for name in ("2026-11-22_10-00-00_advice", "2026-11-23_10-00-00_advice", "_2026-11-24_10-00-00_advice"):
        kept_in = tmp_path / name
        kept_in.mkdir()
        kept(kept_in, advice_for())
    assert latest_advice(tmp_path).name == "2026-11-23_10-00-00_advice"


def test_an_untried_remedy_is_named_with_its_reason():
    advice = advice_for(left_out={"bfq": "its disk has no scheduler bfq"})
    assert advice.candidate("it").name == "it"
    for name, message in (
        ("bfq", "was tried: its disk has no"),
        ("now", "'now' was tried: give one of it"),
        ("x", "it"),
    ):
        with pytest.raises(InputError, match=message):
            advice.candidate(name)


def result(pause_s, *wanted, matches=(), **changes):
    now = {seed: RemedyOutcome(4.0 + seed / 100, 0.5, 100.0) for seed in SEEDS}
    then = {seed: RemedyOutcome(pause_s + seed / 200, 0.1, 95.0) for seed in SEEDS}
    advice = advice_for(*wanted, **changes)
    runs = {"now": [Path("exp/runs/0-now-s1")], "it": [Path("exp/runs/1-it-s1")]}
    return AdviceResult(Path("exp"), advice, RemedyFigures("now", now), figures(now, {"it": then}), runs, matches)


QUEUE = WantedSetting("queue", "nr_requests", "4")


def commands(told):
    return [line for block in blocks(told) if isinstance(block, Lines) for line in block.lines]


def test_the_recommendation_comes_first_with_its_two_commands():
    found = result(0.5, QUEUE, before={"/sys/block/sda/queue/nr_requests": "256"})
    told = report(found, [Path("exp/90-wblab.rules")])
    assert told.headline == "Set it: does it."
    reason = texts(told)[0]
    assert reason.startswith("It shortens the expected longest pause from 4.03 s to 0.52 s (by 3.")
    assert reason.endswith("and makes the heavy writer 5 % slower. No other remedy makes it shorter.")
    assert commands(told)[:3] == [
        "sudo wblab advise --resume exp --apply it",
        "sudo wblab advise --undo",
        "sudo install -m 644 exp/90-wblab.rules /etc/udev/rules.d/",
    ]
    assert "echo 256 | sudo tee /sys/block/sda/queue/nr_requests" in commands(told)
    assert list(found.files) == ["90-wblab.rules"]
    said = json.loads(json.dumps(told.to_json()))
    assert (said["recommended"], said["written"]) == ("it", ["exp/90-wblab.rules"])
    (effects,) = tables(told)
    assert cells(effects)[1][:2] == ["it", "0.52 s"]
    assert cells(effects)[1][2].startswith("-3.51 s (")


def test_a_group_remedy_is_installed_and_not_applied():
    found = commands(report(result(0.5, WantedSetting("slice", "MemoryHigh", "4096"))))
    assert not any("--apply" in line for line in found)
    assert any("systemd-run --scope --slice=wblab-bulk.slice" in line for line in found)


def test_a_terminal_of_80_columns_has_the_commands_and_then_what_was_tried():
    told = report(result(0.5, QUEUE, about=("machine: 8 GiB", "twin: 1/50 of it", "directory: /srv, on sda")))
    found = lines(told, 62)
    order = ["Set it:", "To set it until", "    sudo wblab advise --resume", "Tried outside of User Mode Linux"]
    order += ["- With a queue of 512 KiB", "The twin was", "What each remedy does"]
    order += ["1 remedy tried on a twin of this machine, 5 seeds each.", "machine:", "twin:", "remedy"]
    places = [next(at for at, line in enumerate(found) if line.startswith(start)) for start in order]
    assert places == sorted(places)
    heads = next(line for line in found if line.startswith("remedy"))
    assert heads.split() == ["remedy", "longest", "pause", "change", "offender"]
    assert "(3 columns left out: see a page, a wider terminal or --json)" in found


def test_what_was_tried_with_several_guesses_stands_behind_the_effects_and_is_left_out_first():
    cases = ["blocks of 4 KiB, many at a time", "blocks of 1 MiB, one at a time"]
    each = {seed: RemedyOutcome(4.0 + seed / 100, 0.5, 100.0) for seed in SEEDS}
    now, *others = rows_of({name: dict.fromkeys(cases, each) for name in ("now", "it")})
    runs = {name: [Path("exp/runs/1-s1")] for name in ("now", "it")}
    told = report(AdviceResult(Path("exp"), advice_for(), now, tuple(others), runs, ()))
    (effects,) = tables(told)
    heads = [column.head for column in effects.columns]
    assert heads[1:3] == ["longest pause", "change"]
    assert heads[-2:] == ["4 KiB, many", "1 MiB, one"]
    assert not any("KiB, many" in line for line in lines(told, 80) if line.startswith("remedy"))


def test_untried_remedies_are_listed_on_request():
    reasons = {"bfq": "its disk has no scheduler bfq", "wbt": "this kernel has no WBT"}
    found = result(0.5, left_out=reasons)
    said = "wbt: this kernel has no WBT"
    assert said in texts(report(found), "folded")
    assert said not in texts(report(found), "terminal")
    assert said in texts(report(found, every=True), "terminal")
    assert "Not tried" not in texts(report(result(0.5)))


def test_the_runs_behind_each_row_are_listed_on_request():
    said = "it: 1-it-s1"
    assert said not in texts(report(result(0.5)), "terminal")
    assert said in texts(report(result(0.5), explain=True), "terminal")


def test_without_a_recommendation_there_are_no_files():
    found = result(4.0, WantedSetting("queue", "nr_requests", "4"))
    told = report(found)
    assert told.headline == "No change is recommended."
    assert texts(told)[0].lower() == f"{found.choice.reason}.".lower()
    assert commands(told) == []
    assert (found.files, told.to_json()["recommended"]) == ({}, None)


def test_a_twin_unlike_the_machine_gets_a_warning():
    alike = Match("w1", "longest_pause_s", 2.0, (1.9, 2.0, 2.1))
    other = Match("w1", "paused_fraction", 0.9, (0.1, 0.15, 0.2))
    order = "trust the order of the remedies, not the seconds."

    def accuracy(**changes):
        return next(text for text in texts(report(result(0.5, **changes))) if "live run" in text)

    assert accuracy().startswith(f"The twin was not compared with a live run: {order}")
    assert accuracy(live="/gone").endswith(f"can no longer be read: {order}")
    poor = {"live": "/run", "matches": [alike, other]}
    said = f"None of 2 metrics of the live run contradicts the twin, 1 reproduced and 1 undecided with 3 seeds: {order}"
    assert accuracy(**poor) == said
    mismatch = "w1, paused fraction: 90 % live, 15 % in the twin: not decided"
    assert mismatch in texts(report(result(0.5, **poor), every=True), "terminal")
    unlike = [Match("w1", "paused_fraction", 0.9, (0.1, 0.1001, 0.1002))]
    assert accuracy(live="/run", matches=unlike) == f"1 of 1 metrics of the live run contradicts the twin: {order}"
    assert accuracy(live="/run", matches=[alike]) == "The twin reproduces 1 of 1 metrics of the live run."


def test_the_loads_of_a_spec_are_its_innocent_ones(tmp_path):
    live, loads = loads_like("two-disks", tmp_path)
    assert live is None
    assert loads
    assert all(load.role != "offender" and not load.disk for load in loads.values())
    files = [file for load in loads.values() for file in vars(load).get("file", "").split()]
    assert len(set(files)) == len(files) == 4  # loads of different disks get different files
    with pytest.raises(InputError, match=r"--like: no spec 'nothing'.*it may also be a live run"):
        loads_like("nothing", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dir", "/proc"), "--dir: '/proc' is on proc, not on a disk: give a directory on a disk, such as /var/tmp"),
        (("--dir", "/nowhere"), "--dir: cannot use '/nowhere': No such file or directory: give another directory"),
        (("--apply", "it"), "no study of wblab advise in"),
        (("--resume", "x", "--dir", "/"), "--dir: --resume keeps the settings of the first call: leave --dir out"),
        (("--apply", "it", "--undo"), "not allowed with argument"),
        (("--seeds", "0"), "0 is not at least 1"),
    ],
)
def test_a_mistake_is_reported_on_one_line_before_any_run(tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("wblab.kernels.built_kernels", lambda *given: lambda name: None)
    assert main(["advise", "--exp", str(tmp_path), *arguments]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert message in errors[-1]
    assert not any("is measured" in line for line in errors)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("pause_s", "shown"), [(1.0, True), (6.0, False)])
def test_limits_that_do_not_shorten_the_pause_are_not_printed_for_a_group(pause_s, shown):
    found = report(result(pause_s, WantedSetting("slice", "MemoryHigh", "1048576")), group=Path("/sys/fs/cgroup/g"))
    text = "\n".join(lines(found, 80))
    assert ("echo 1048576 | sudo tee /sys/fs/cgroup/g/memory.high" in text) is shown
    assert ("Not for /sys/fs/cgroup/g, as the longest pause was no shorter: it." in text) is not shown
