"""Every verb that reads a directory, with hostile ones: at most one line, no traceback, no hang, no file elsewhere."""

import os
import re
import secrets
import shutil
import sys
import warnings
from pathlib import Path
from random import Random

import pytest
from support.attacked import CONTROL, HungError, limited, state
from support.spoil import make_hostile

from wblab import cli
from wblab.core.check import check_spec
from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

QUICK, LONG, PARTS = 200, 10_000, 10
VERBS = {
    "guest_run": [
        ["why", "--pauses", "{run}"], ["why", "--pauses", "{run}", "--json"], ["spec", "{run}"],
        ["repeat", "{run}"], ["repeat", "{run}", "{sound}"], ["repeat", "{run}", "{sound}", "--json"],
        ["timeline", "{run}"], ["timeline", "{run}", "--around", "longest"], ["timeline", "{run}", "--format", "html"],
        ["timeline", "--format", "perfetto-trace", "{run}"], ["compare", "{run}", "{live}", "-o", "{run}/report.html"],
        ["compare", "{run}", "{live}"], ["monitor", "{run}", "--speed", "1000000", "--json"],
    ],
    "live_run": [
        ["why", "--pauses", "{run}"], ["timeline", "{run}"], ["timeline", "{run}", "--around", "longest"],
        ["study", "{run}"], ["timeline", "--format", "perfetto-trace", "{run}"],
        ["timeline", "{run}", "--from", "1s", "--to", "2s", "--format", "html"],
    ],
    "matrix": [
        ["study", "--resume", "{run}"], ["study", "{run}"], ["compare", "{run}"],
        ["compare", "{run}", "-o", "{run}/report.html"], ["why", "--pauses", "{run}/runs/0-none-s1"],
    ],
    "rows": [
        ["study", "--merge", "{run}", "--exp", "{run}/out"],
        ["study", "--merge", "{run}", "{rows}", "--exp", "{run}/out"],
        ["compare", "{run}"], ["study", "--resume", "{run}"], ["repeat", "{run}", "--exp", "{run}/out"],
        ["repeat", "{run}/runs/0-none-s1"],
    ],
    "bisection": [["bisect", "--resume", "{run}", "--tree", "{run}"]],
    "verification": [["study", "--resume", "{run}"]],
    "twin": [["study", "--resume", "{run}"]],
    "a_table": [["compare", "{run}/table.csv"], ["compare", "{run}/table.parquet", "-o", "{run}/effects.svg"],
                ["compare", "{run}/table.csv", "--all", "--json"]],
}  # fmt: skip
SHARES = {"guest_run": 12, "live_run": 4, "matrix": 5, "rows": 4, "bisection": 1, "a_table": 3, "verification": 1}
SHARES |= {"twin": 1}


@pytest.fixture(autouse=True)
def no_guests(monkeypatch):
    """Raised at the boot of a guest, where reading ends."""

    def booted(*arguments, **options):
        raise WblabError("a guest would boot here")

    def checked(spec):
        check_spec(spec)
        booted()

    monkeypatch.setattr("wblab.host.request.ready.__defaults__", (checked,))  # of all callers
    monkeypatch.setattr("wblab.study.begin.check_kernels", lambda *arguments: None)
    monkeypatch.setattr("wblab.study.begin.requests", lambda *arguments, **options: [])
    monkeypatch.setattr("wblab.study.run.forked", booted)
    monkeypatch.setattr("wblab.kernels.make.check_tools", lambda: None)


def run_verb(words: list[str]) -> int:
    if words[0] != "spec":
        return cli.main(words)
    try:  # the part of 'wblab run DIRECTORY' before a kernel is resolved
        check_spec(read_spec(SPECS.find(words[1])))
    except WblabError as error:
        print(f"wblab: {printable(str(error))[:2000]}", file=sys.stderr)
        return error.exit_code
    return 0


def attack(originals: Path, room: Path, seed: int, capsys, shares=SHARES) -> None:
    """Make a hostile directory of one of these kinds, let a verb read it, and check the result."""
    random = Random(seed)
    outside, inside = room / "outside", room / "inside"
    outside.mkdir()
    (outside / "folder").mkdir()
    (outside / "victim").write_text("precious\n")
    kind = random.choices(list(shares), list(shares.values()))[0]
    run = inside / random.choice(("run", "run", "run", "r\x1b[31m", "$\\frac{$", "[red]", "<b>"))
    shutil.copytree(originals / kind, run)
    make_hostile(run, random, outside)
    names = {"run": str(run), "sound": str(originals / "guest_run"), "live": str(originals / "live_run")}
    names["rows"] = str(originals / "rows")
    words = [re.sub(r"\{(\w+)\}", lambda match: names[match[1]], word) for word in random.choice(VERBS[kind])]
    before = state(outside) | state(originals)
    with warnings.catch_warnings(record=True), limited():
        code = run_verb(words)
    said = capsys.readouterr()
    assert code in (0, 1, 2)
    assert state(outside) | state(originals) == before
    assert sorted(path.name for path in room.iterdir()) == ["inside", "outside"]
    assert [path.name for path in inside.iterdir()] == [run.name]
    assert not list(run.rglob("*.partial")) or any(".partial" in str(path) for path in run.rglob(".*.partial"))
    assert not CONTROL.search(said.err), said.err
    if "--json" not in words or words[0] != "monitor":
        assert not CONTROL.search(said.out), said.out
    lines = said.err.splitlines()
    assert all(line.startswith("wblab: ") and len(line) < 3000 for line in lines), said.err
    if code == 2:
        assert len(lines) == 1 or words[0] in ("timeline", "study"), said.err


def attacks(seeds: range, originals: Path, place: Path, capsys, shares=SHARES) -> None:
    failed = []
    for seed in seeds:
        room = place / f"{seed}"
        room.mkdir()
        try:
            attack(originals, room, seed, capsys, shares)
        except (Exception, SystemExit, HungError) as error:
            failed.append(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}")
            capsys.readouterr()
        shutil.rmtree(room)
    if os.environ.get("WBLAB_FUZZ_LIST"):
        with Path(os.environ["WBLAB_FUZZ_LIST"]).open("a") as file:
            file.writelines(f"{line!r}\n" for line in failed)
    assert not failed, f"{len(failed)} of {len(seeds)}:\n" + "\n".join(failed[:10])


def test_sound_directories_are_read(originals, tmp_path, capsys):
    for kind, verbs in VERBS.items():
        for number, template in enumerate(verbs):
            run = tmp_path / f"{kind}-{number}"
            shutil.copytree(originals / kind, run)
            names = {"run": str(run), "sound": str(originals / "guest_run"), "live": str(originals / "live_run")}
            names["rows"] = str(originals / "rows")
            words = [word.format(**names) for word in template]
            code = run_verb(words)
            said = capsys.readouterr()
            expected = {"bisect": 2}.get(words[0], 0)
            if words[0] in ("study", "repeat") and "--merge" not in words and "{sound}" not in template:
                assert "a guest would boot here" in said.err
            else:
                assert code == expected, (words, said.err)


def test_hostile_directories(originals, tmp_path, capsys):
    attacks(range(QUICK), originals, tmp_path, capsys)


def test_hostile_directories_of_today(originals, tmp_path, capsys):
    start = secrets.randbelow(1 << 40)
    with capsys.disabled():
        print(f" seeds {start} to {start + 29} ", end="")
    attacks(range(start, start + 30), originals, tmp_path, capsys)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_hostile_directories(originals, tmp_path, capsys, part):
    size = LONG // PARTS
    attacks(range(1_000_000 + part * size, 1_000_000 + (part + 1) * size), originals, tmp_path, capsys)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_thousand_hostile_parts_of_studies(originals, tmp_path, capsys):
    attacks(range(3_000_000, 3_002_000), originals, tmp_path, capsys, {"rows": 2, "matrix": 1})
