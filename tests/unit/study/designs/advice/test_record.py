"""The record of an advice, and its text output."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import MACHINE, SITE, advice_for

from wblab.cli import main
from wblab.commands.advise import _print
from wblab.core.errors import InputError
from wblab.study.designs.advice import words
from wblab.study.designs.advice.begin import loads_like
from wblab.study.designs.advice.figures import Figures, Outcome, figures
from wblab.study.designs.advice.plan import plan
from wblab.study.designs.advice.record import advice_in, advice_of, latest_advice, packed, read_advice
from wblab.study.designs.advice.remedies import read_remedies
from wblab.study.designs.advice.result import Result
from wblab.study.designs.advice.settings import Wanted
from wblab.study.designs.twin.match import Match
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
    with_pair = replace(planned.plan, cells=(*planned.plan.cells, pair.cell))
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
    now = {seed: Outcome(4.0 + seed / 100, 0.5, 100.0) for seed in SEEDS}
    then = {seed: Outcome(pause_s + seed / 200, 0.1, 95.0) for seed in SEEDS}
    advice = advice_for(*wanted, **changes)
    runs = {"now": [Path("exp/runs/0-now-s1")], "it": [Path("exp/runs/1-it-s1")]}
    return Result(Path("exp"), advice, Figures("now", now), figures(now, {"it": then}), runs, matches)


QUEUE = Wanted("queue", "nr_requests", "4")


def test_the_recommendation_is_printed_with_its_two_commands():
    found = result(0.5, QUEUE, before={"/sys/block/sda/queue/nr_requests": "256"})
    first, *commands = words.recommended(found)
    assert first.startswith("Set it: does it. It shortens the expected longest pause from 4.03 s to 0.52 s (by 3.")
    assert first.endswith("and makes the heavy writer 5 % slower. No other remedy makes it shorter.")
    assert commands == [
        "To set it until the next boot, and to undo it:",
        "    sudo wblab advise --resume exp --apply it",
        "    sudo wblab advise --undo",
    ]
    kept = words.installation(found, [Path("exp/90-wblab.rules")])
    assert "    sudo install -m 644 exp/90-wblab.rules /etc/udev/rules.d/" in kept
    assert "    echo 256 | sudo tee /sys/block/sda/queue/nr_requests" in kept
    assert list(found.files) == ["90-wblab.rules"]
    assert json.loads(json.dumps(found.to_json()))["recommended"] == "it"
    assert words.table(found).lines()[2].startswith("it             0.52 s  -3.51 s (")


def test_a_group_remedy_is_installed_and_not_applied():
    found = result(0.5, Wanted("slice", "MemoryHigh", "4096"))
    lines = [*words.recommended(found), *words.installation(found, [])]
    assert not any("--apply" in line for line in lines)
    assert any("systemd-run --scope --slice=wblab-bulk.slice" in line for line in lines)


def test_the_output_has_the_machine_and_then_the_settings(capsys):
    found = result(0.5, QUEUE, about=("machine: 8 GiB", "twin: 1/50 of it", "directory: /srv, on sda"))
    _print(found, [], every=False, explain=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "Study exp: /srv on sda; 1 remedy tried on a twin of this machine, 5 seeds each.",
        "machine: 8 GiB",
    ]
    told = ("The twin was", "Tried outside of User Mode Linux:", "- With a queue of 4 requests", "twin:", "remedy")
    order = ("machine:", "Set it:", "    sudo wblab advise --resume", *told, "exp")
    places = [next(at for at, line in enumerate(lines) if line.startswith(start)) for start in order]
    assert places == sorted(places)


def test_a_narrow_terminal_still_shows_pauses_and_rates():
    shown, left_out = words.table(result(0.5, QUEUE)).within(62)
    assert tuple(shown.heads) == ("remedy", "longest pause", "change", "offender")
    assert left_out == 3


def test_untried_remedies_are_listed_on_request():
    reasons = {"bfq": "its disk has no scheduler bfq", "wbt": "this kernel has no WBT"}
    found = result(0.5, left_out=reasons)
    assert words.left_out(found, every=False) == ["2 remedies were not tried; --all says why."]
    assert words.left_out(found, every=True)[1] == "not tried: wbt: this kernel has no WBT"
    one = result(0.5, left_out={"bfq": "its disk has no scheduler bfq"})
    assert words.left_out(one, every=False) == ["1 remedy was not tried; --all says why."]
    assert words.left_out(result(0.5), every=False) == []


def test_without_a_recommendation_there_are_no_files():
    found = result(4.0, Wanted("queue", "nr_requests", "4"))
    assert words.recommended(found) == [f"No change is recommended: {found.choice.reason}."]
    assert words.installation(found, []) == []
    assert (found.files, found.to_json()["recommended"]) == ({}, None)


def test_a_twin_unlike_the_machine_gets_a_warning():
    alike = Match("w1", "longest_pause_s", 2.0, (1.9, 2.0, 2.1))
    other = Match("w1", "paused_fraction", 0.9, (0.1, 0.15, 0.2))
    order = "trust the order of the remedies, not the seconds."
    assert words.accuracy(result(0.5), every=False)[0].startswith(f"The twin was not compared with a live run: {order}")
    assert words.accuracy(result(0.5, live="/gone"), every=False)[0].endswith(f"can no longer be read: {order}")
    poor = result(0.5, live="/run", matches=[alike, other])
    said = f"None of 2 metrics of the live run contradicts the twin, 1 reproduced and 1 undecided with 3 seeds: {order}"
    assert words.accuracy(poor, every=False) == [said]
    assert words.accuracy(poor, every=True) == [
        f"{said} Not reproduced:",
        "    w1, paused fraction: 90 % live, 15 % in the twin: not decided",
    ]
    unlike = result(0.5, live="/run", matches=[Match("w1", "paused_fraction", 0.9, (0.1, 0.1001, 0.1002))])
    assert words.accuracy(unlike, every=False) == [f"1 of 1 metrics of the live run contradicts the twin: {order}"]
    good = result(0.5, live="/run", matches=[alike])
    assert words.accuracy(good, every=False) == ["The twin reproduces 1 of 1 metrics of the live run."]


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
