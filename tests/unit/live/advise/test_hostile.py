"""Hostile advice directories that root applies or prints: only settings of a known remedy are ever made."""

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import FILES, MACHINE, SITE

from wblab.cli import main
from wblab.live.advise import apply as applying
from wblab.live.advise import machinesite as sites
from wblab.live.advise import remedies
from wblab.live.advise.advicefile import advice_in, check_remedy
from wblab.live.advise.files import RULES, files_of, install_commands
from wblab.live.advise.plan import plan
from wblab.live.advise.record import advice_of, packed
from wblab.live.advise.remedies import parse_remedies, read_remedies
from wblab.live.changes import journal as journals
from wblab.study.store import Store

REMEDIES = {"it": {"about": "a short queue", "nr_requests": 4}, "low": {"about": "a low limit", "dirty": "1s"}}


@pytest.fixture
def directory(tree, tmp_path, monkeypatch):
    """Return the directory of an advice for the synthetic machine, for a test to tamper with."""
    monkeypatch.setattr(applying.apply_named, "__defaults__", (tmp_path / "state",))
    monkeypatch.setattr(journals, "require_root", lambda why: None)
    (tmp_path / "remedies").mkdir()
    (tmp_path / "remedies/some.toml").write_text(
        "".join(f"[{name}]\n{_toml(table)}" for name, table in REMEDIES.items())
    )
    monkeypatch.setattr(remedies, "REMEDIES", tmp_path / "remedies")
    planned = plan(MACHINE, SITE, parse_remedies(REMEDIES, {}), range(1, 3))
    advice = advice_of(planned, SITE, {"about": ("machine", "twin")})
    return Store.create(tmp_path / "exp", planned.plan, {"": {"build_id": "b"}}, packed(advice)).path


def _toml(table):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def change(directory, at, value):
    """Change the value at a path through the tables of the file, such as candidates/1/name."""
    file = directory / "advice.json"
    found = table = json.loads(file.read_text())
    *way, last = at.split("/")
    for step in way:
        found = found[int(step)] if isinstance(found, list) else found[step]
    found[int(last) if isinstance(found, list) else last] = value
    file.write_text(json.dumps(table))


def contents(tree):
    return {str(path.relative_to(tree)): path.read_text().strip() for path in tree.rglob("*") if path.is_file()}


def test_an_unchanged_advice_is_applied(directory, tree, capsys):
    assert main(["advise", "--resume", str(directory), "--apply", "it"]) == 0
    assert contents(tree) == FILES | {"block/sda/queue/nr_requests": "4"}
    assert "/srv, on sda:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wanted",
    [
        {"where": "queue", "key": "/sys/block/sdb/queue/nr_requests", "value": "4"},
        {"where": "bdi", "key": "/sys/class/bdi/8:16/strict_limit", "value": "1"},
        {"where": "queue", "key": "../../sdb/queue/nr_requests", "value": "4"},
        {"where": "queue", "key": "rotational", "value": "1"},
        {"where": "queue", "key": "nr_requests", "value": "999999999"},
        {"where": "queue", "key": "nr_requests", "value": "1"},
        {"where": "queue", "key": "max_sectors_kb", "value": "4"},
        {"where": "queue", "key": "nr_requests", "value": "4\n"},
        {"where": "queue", "key": "nr_requests", "value": "٤"},
        {"where": "queue", "key": "nr_requests", "value": '4", RUN+="/bin/sh'},
        {"where": "queue", "key": "scheduler", "value": 'bfq", RUN+="/bin/sh'},
        {"where": "queue", "key": "wbt_lat_usec", "value": "9999999999999"},
        {"where": "bdi", "key": "max_ratio_fine", "value": "0"},
        {"where": "bdi", "key": "max_ratio_fine", "value": "1000001"},
        {"where": "bdi", "key": "strict_limit", "value": "0"},
        {"where": "sysctl", "key": "vm.dirty_bytes", "value": "4096"},
        {"where": "sysctl", "key": "vm.dirty_bytes", "value": str(1 << 49)},  # more than the memory of any test machine
        {"where": "sysctl", "key": "vm.dirty_writeback_centisecs", "value": "0"},
        {"where": "sysctl", "key": "vm.overcommit_memory", "value": "2"},
        {"where": "sysctl", "key": "kernel.core_pattern", "value": "1"},
        {"where": "slice", "key": "MemoryHigh", "value": "1\nExecStart=/bin/sh"},
        {"where": "slice", "key": "ExecStart", "value": "1"},
        {"where": "slice", "key": "IOWriteBandwidthMax", "value": "/dev/sdb 1"},
    ],
)
def test_no_other_key_or_value_is_set(directory, tree, capsys, monkeypatch, wanted):
    monkeypatch.setattr("wblab.kernels.built_kernels", lambda *given: lambda name: None)
    change(directory, "candidates/1/wanted", [wanted])
    for verb in (("--apply", "it"), ()):
        assert main(["advise", "--resume", str(directory), *verb]) == 2
        assert "advice.json is damaged: candidates.wanted: no remedy sets" in capsys.readouterr().err
    assert contents(tree) == FILES
    assert sorted(path.name for path in directory.iterdir()) == ["advice.json", "rows", "runs", "study.json"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("it", {"where": "sysctl", "key": "vm.dirty_bytes", "value": "1048576"}),
        ("it", {"where": "queue", "key": "nr_requests", "value": "5"}),
        ("it", {"where": "queue", "key": "scheduler", "value": "bfq"}),
        ("it", {"where": "queue", "key": "max_sectors_kb", "value": "128"}),
        ("low", {"where": "bdi", "key": "max_ratio_fine", "value": "1"}),
        ("it+low", {"where": "queue", "key": "wbt_lat_usec", "value": "1"}),
        ("other", {"where": "queue", "key": "nr_requests", "value": "4"}),
    ],
)
def test_a_name_applies_the_remedy_of_that_name(directory, tree, capsys, name, wanted):
    change(directory, "candidates/1/name", name)
    change(directory, "candidates/1/wanted", [wanted])
    assert main(["advise", "--resume", str(directory), "--apply", name]) == 2
    assert "does not set" in (said := capsys.readouterr().err) or "this lab has no remedy 'other'" in said
    assert contents(tree) == FILES


def test_all_settings_of_the_lab_s_remedies_are_permitted():
    planned = plan(replace(MACHINE, own_limit=1_000_000), SITE, read_remedies(), range(1, 3))
    candidates = [*planned.candidates[1:], *(option.candidate for option in planned.pairs)]
    assert len(candidates) > 50
    for candidate in candidates:
        check_remedy(candidate)
        assert all(item.is_allowed(MACHINE.memory_bytes) for item in candidate.wanted)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("candidates/1/about", 'short\nACTION=="add", RUN+="/bin/sh"'),
        ("candidates/1/about", "short\u2028x"),
        ("candidates/1/about", "x" * 5000),
        ("candidates/1/name", "it;reboot"),
        ("candidates/1/name", "it\nx"),
        ("candidates/1/cell", "../../etc"),
        ("pairs/0/candidate/about", "short\nkernel.core_pattern = |/bin/sh"),
        ("made", '2026\nRUN+="/bin/sh"'),
        ("site/device", "sda;reboot"),
        ("site/device", "../sdb"),
        ("site/disks", ["sda", "$(reboot)"]),
        ("site/bdi", "../8:16"),
        ("site/known_by", {"sda": 'KERNEL=="sda", RUN+="/bin/sh"'}),
        ("site/known_by", {"sda": 'KERNEL=="*"'}),
        ("site/known_by", {"sda": 'PROGRAM=="/bin/sh"'}),
        ("site/known_by", {"sda;reboot": 'KERNEL=="sda"'}),
        ("site/known_by", {"sda": 'KERNEL=="sda"', "sdb": 'KERNEL=="sdb"'}),
        ("before", {"/sys/block/sda/queue/nr_requests": "4; reboot"}),
        ("before", {"/sys/block/sda/queue/nr requests;reboot": "4"}),
    ],
)
def test_an_invalid_field_is_named(directory, tree, capsys, at, value):
    change(directory, at, value)
    assert main(["advise", "--resume", str(directory), "--apply", "low"]) == 2
    said = capsys.readouterr().err
    assert "advice.json is damaged" in said
    assert len(said.splitlines()) == 1
    assert contents(tree) == FILES


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("site/directory", "/etc"),
        ("site/bdi", "8:16"),
        ("site/filesystem", "xfs"),
        ("site/known_by", {"sda": 'KERNEL=="sdb"'}),
        ("site/known_by", {"sda": 'ENV{ID_SERIAL}=="WDC_2"'}),
    ],
)
def test_the_site_is_compared_with_the_machine(directory, tree, capsys, at, value):
    change(directory, at, value)
    assert main(["advise", "--resume", str(directory), "--apply", "it"]) == 2
    assert "is now on another disk than in the study" in capsys.readouterr().err
    assert contents(tree) == FILES


def test_all_paths_belong_to_the_site(directory, monkeypatch):
    advice = advice_in(Store.open(directory))
    elsewhere = replace(SITE, schedulers=("none",), controllers=())  # the same disk, with other modules loaded
    monkeypatch.setattr(sites, "find_site", lambda directory: elsewhere)
    assert advice_in(Store.open(directory)).site == elsewhere != advice.site


def test_commands_are_quoted_and_comments_stay_on_one_line(directory):
    """This holds even for an advice that passed the check."""
    advice = advice_in(Store.open(directory))
    hostile = replace(advice.site, known_by={"sda;reboot": 'KERNEL=="sda"'})
    line = install_commands(RULES, hostile)[1]
    assert shlex.split(line)[-1] == "--name-match=/dev/sda;reboot"
    candidate = replace(advice.candidate("it"), about='x\nACTION=="add", RUN+="/bin/sh"')
    rules = [line for line in files_of(candidate, advice)[RULES].splitlines() if line and line[0] != "#"]
    assert [rule for rule in rules if "RUN" in rule] == []


@pytest.mark.parametrize("option", ["--resume", "--output", "--exp"])
def test_root_writes_nothing_into_another_user_s_directory(directory, tmp_path, capsys, monkeypatch, option):
    if os.geteuid() != 0:
        monkeypatch.setattr("os.geteuid", lambda: 0)  # so that our files belong to another user
    monkeypatch.setattr("wblab.kernels.built_kernels", lambda *given: pytest.fail("it went on"))
    place = {"--resume": directory, "--output": tmp_path / "out", "--exp": tmp_path / "home"}[option]
    place.mkdir(exist_ok=True)
    os.chown(place, 1000, -1) if os.getuid() == 0 else None
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    given = ["--exp", str(tmp_path / "exp")] if option != "--exp" else []
    assert main(["advise", *given, option, str(place)]) == 2
    said = capsys.readouterr().err
    named = option if os.getuid() == 0 else ""  # to an ordinary user all these directories belong, so any may be named
    assert f"{named}: as root, wblab does not write to" in said
    assert "without sudo" in said
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_root_follows_no_link_of_another_user(tmp_path, capsys, monkeypatch):
    if os.getuid() != 0:
        monkeypatch.setattr("os.geteuid", lambda: 0)
    (tmp_path / "rules.d").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/out").symlink_to(tmp_path / "rules.d")
    os.chown(tmp_path / "home", 1000, -1) if os.getuid() == 0 else None
    assert main(["advise", "--exp", str(tmp_path / "exp"), "--output", str(tmp_path / "home/out")]) == 2
    assert ": as root, wblab does not write to" in capsys.readouterr().err
    assert not any(Path(tmp_path / "rules.d").iterdir())


def test_an_advice_for_another_machine_sets_nothing_here(directory, capsys):
    change(directory, "elsewhere", "facts.tar.gz")
    assert main(["advise", "--resume", str(directory), "--apply", "it"]) == 2
    assert "this study is of another machine (facts.tar.gz): install its files there" in capsys.readouterr().err
    change(directory, "elsewhere", "../x")
    assert main(["advise", "--resume", str(directory), "--apply", "it"]) == 2
    assert "elsewhere" in capsys.readouterr().err
