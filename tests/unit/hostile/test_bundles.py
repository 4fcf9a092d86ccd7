"""Bundles from somebody hostile: damaged, forged and false ones. Each is refused in one line and leaves nothing."""

import json
import os
import resource
import secrets
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from support.attacked import CONTROL, HungError, limited, state
from support.forge import packed_again, pieces_of, sealed, spelt, structures, written
from support.spoil import change_bytes, change_header, change_value

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.publish.bundle.about import all_told, described
from wblab.publish.bundle.members import run_of
from wblab.publish.bundle.pack import pack

QUICK, LONG, PARTS = 120, 2200, 4  # of the long, more than 2,000 are refused
WAYS = ("bytes", "structure", "about", "contents")


@pytest.fixture(scope="session")
def bundles(originals, tmp_path_factory) -> dict[str, Path]:
    """Sound bundles of a run, of a study, and of a study that keeps rows."""
    room = tmp_path_factory.mktemp("bundles")
    kinds = {"run": "guest_run", "study": "matrix", "rows": "rows"}
    for kind, original in kinds.items():
        pack(shutil.copytree(originals / original, room / original), room / f"{kind}.wblab")
    return {kind: room / f"{kind}.wblab" for kind in kinds}


def mutant(way: str, sound: Path, file: Path, random: Random) -> bool:
    """Write a hostile bundle; return whether it is one that only an honest run could tell from a sound one.

    That is so if its contents are sound files of another run, or if only its words differ.
    """
    content = sound.read_bytes()
    pieces = pieces_of(content)
    if way == "bytes":
        file.write_bytes(content)
        change_bytes(file, random)
        return False
    if way == "structure":
        file.write_bytes(random.choice(structures(random))(pieces))
        return False
    if way == "about":
        room = file.with_suffix(".json")
        room.write_bytes(pieces[0].content)
        change_value(room, random)
        about = json.loads(room.read_bytes())
        room.unlink()
        file.write_bytes(written([replace(pieces[0], content=spelt(about)), *pieces[1:]]))
        return without_words(about) == without_words(json.loads(pieces[0].content))
    name, changed = changed_member(pieces, file, random)
    file.write_bytes(packed_again(sound, {name: changed}))
    return told_again(file, random)


def without_words(about: object) -> object:
    """Return a bundle.json without its headlines, if they are texts."""
    if isinstance(about, dict) and isinstance(about.get("runs"), list):
        runs = [
            {key: value for key, value in run.items() if key != "headline" or not isinstance(value, str)}
            if isinstance(run, dict)
            else run
            for run in about["runs"]
        ]
        return about | {"runs": runs}
    return about


def changed_member(pieces, file: Path, random: Random) -> tuple[str, bytes]:
    """Return one of the members, with other content."""
    piece = random.choice(pieces[1:])
    name = piece.name.decode()
    room = file.with_suffix(Path(name).suffix or ".bin")
    room.write_bytes(piece.content)
    try:
        if name.endswith(".json") and random.random() < 0.8:
            change_value(room, random)
        elif name.endswith(".npy") and random.random() < 0.8:
            change_header(room, random)
        else:
            change_bytes(room, random)
    except (ValueError, RecursionError):  # not for every content
        room.write_bytes(piece.content + b"x")
    changed = room.read_bytes()
    room.unlink()
    return name, changed


def told_again(file: Path, random: Random) -> bool:
    """Let the attacker describe what the files say now, where the lab can read them; return whether it can."""
    pieces = pieces_of(file.read_bytes())
    room = file.with_suffix(".room")
    for piece in pieces[1:]:
        path = room / piece.name.decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(piece.content)
    about = json.loads(pieces[0].content)
    runs = list(dict.fromkeys(filter(None, (run_of(piece.name.decode()) for piece in pieces[1:]))))
    try:
        with warnings.catch_warnings(record=True), limited():
            told = described(room, about["kind"], about["name"], all_told(room, about["kind"], about["name"], runs))
    except InputError:
        return False
    finally:
        shutil.rmtree(room)
    file.write_bytes(written(sealed([replace(pieces[0], content=spelt(told)), *pieces[1:]])))
    return True


def attack(bundles: dict[str, Path], room: Path, seed: int, capsys) -> str:
    """Make a mutant and let the lab open it; return what became of it."""
    random = Random(seed)
    way, kind = WAYS[seed % len(WAYS)], random.choice(("run", "run", "study", "rows"))
    inside, results = room / "inside", room / "exp"
    inside.mkdir()
    results.mkdir()
    file = inside / random.choice(("x.wblab", "r\x1b[31m.wblab", "$\\frac{$ [red].wblab"))
    sound = bundles[kind].read_bytes()
    may_open = mutant(way, bundles[kind], file, random)
    if file.read_bytes() == sound:
        return "unchanged"
    before = state(inside)
    options = random.choice(([], ["--json"], ["--keep"], ["--to", str(results / "new")]))
    with warnings.catch_warnings(record=True), limited():
        code = main(["open", str(file), "--exp", str(results), *options])
    said = capsys.readouterr()
    assert not CONTROL.search(said.out + said.err), said
    assert state(inside) == before
    assert sorted(path.name for path in room.iterdir()) == ["exp", "inside"]
    lines = said.err.splitlines()
    assert all(line.startswith("wblab: ") and len(line) < 3000 for line in lines), said.err
    if code == 2:
        assert len(lines) == 1, said.err
        assert said.out == ""
        assert os.listdir(results) == []
        return f"{way}: refused"
    assert code == 0, said.err
    assert may_open, f"{way} was opened"
    return f"{way}: opened"


def attacks(seeds: range, bundles: dict[str, Path], place: Path, capsys) -> dict[str, int]:
    failed, counts = [], {}
    for seed in seeds:
        room = place / f"{seed}"
        room.mkdir()
        try:
            became = attack(bundles, room, seed, capsys)
            counts[became] = counts.get(became, 0) + 1
        except (Exception, SystemExit, HungError) as error:
            failed.append(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}")
            capsys.readouterr()
        shutil.rmtree(room)
    assert not failed, f"{len(failed)} of {len(seeds)}:\n" + "\n".join(failed[:10])
    return counts


def test_sound_bundles_are_opened(bundles, tmp_path, capsys):
    for kind, file in bundles.items():
        (tmp_path / kind).mkdir()
        assert main(["open", str(file), "--keep", "--exp", str(tmp_path / kind)]) == 0, capsys.readouterr().err
        assert packed_again(file, {}) == file.read_bytes()


def test_hostile_bundles(bundles, tmp_path, capsys):
    counts = attacks(range(QUICK), bundles, tmp_path, capsys)
    assert counts["bytes: refused"] >= QUICK // 5
    assert counts["structure: refused"] >= QUICK // 5


def test_hostile_bundles_of_today(bundles, tmp_path, capsys):
    start = secrets.randbelow(1 << 40)
    with capsys.disabled():
        print(f" seeds {start} to {start + 19} ", end="")
    attacks(range(start, start + 20), bundles, tmp_path, capsys)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_hostile_bundles(bundles, tmp_path, capsys, part):
    size = LONG // PARTS
    counts = attacks(range(1_000_000 + part * size, 1_000_000 + (part + 1) * size), bundles, tmp_path, capsys)
    with capsys.disabled():
        print(f" {counts}")


@pytest.mark.parametrize("number", range(len(structures(Random(0)))))
def test_each_attack_on_the_form_is_refused(bundles, tmp_path, capsys, number):
    for bundle in bundles.values():
        sound = bundle.read_bytes()
        for seed in range(4):
            random = Random(seed)
            (tmp_path / "x.wblab").write_bytes(structures(random)[number](pieces_of(sound)))
            if (tmp_path / "x.wblab").read_bytes() != sound:
                assert main(["open", str(tmp_path / "x.wblab")]) == 2
                assert capsys.readouterr().err.count("\n") == 1


MEASURED = """
import sys
from wblab.cli import main
code = main(sys.argv[1:])
print(code, next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
JSON_OF_4_MIB = {
    "lists": b'{"files":[' + b"[]," * ((4 << 20) // 3 - 10) + b"[]]}",
    "tables": b'{"format":1,"kind":"run","name":"x","files":[' + b'{"a":0},' * ((4 << 20) // 8 - 20) + b"{}]}",
    "digits": b'{"format":' + b"9" * ((4 << 20) - 20) + b"}",
}


@pytest.mark.parametrize("name", JSON_OF_4_MIB)
def test_a_dense_description_takes_little_memory(bundles, tmp_path, name):
    about, *rest = pieces_of(bundles["run"].read_bytes())
    (tmp_path / "x.wblab").write_bytes(written([replace(about, content=JSON_OF_4_MIB[name]), *rest]))
    command = [sys.executable, "-c", MEASURED, "open", str(tmp_path / "x.wblab")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, most_kib = done.stdout.split()
    assert (code, done.stderr.count("\n")) == ("2", 1)
    assert int(most_kib) < 250 << 10


LITTLE = """
import sys
from wblab.cli import main
from wblab.publish.bundle import read
read.available_memory_bytes = lambda: 20 << 20
print(main(sys.argv[1:]))
"""


def test_a_file_that_needs_more_memory_than_is_free_is_refused(bundles, tmp_path):
    command = [sys.executable, "-c", LITTLE, "open", str(bundles["run"])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr.count("\n")) == ("2\n", 1)
    assert "takes more than 15 MiB of memory, three quarters of what is free here" in done.stderr


def test_the_limit_of_memory_ends_with_the_reading(bundles, capsys):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert main(["open", str(bundles["run"])]) == 0
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
