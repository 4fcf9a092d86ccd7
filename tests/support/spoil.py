"""What an attacker may do to a directory: change values, bytes and names, or replace files."""

import json
import os
import shutil
import socket
from pathlib import Path
from random import Random

import numpy as np
import zstandard

TEXTS = (
    "", "x", "\x1b[31mred\x1b]0;title\x07", "\x9b2J", "\u202eleft", "a\nb", "a\0b", "../../outside/new",
    "/etc/hostname",
    "..", ".", "a/b", "$\\frac{$", "$x$ $", "[/x]", "[bold]b", "<script>alert(1)</script>", "</script>", "<b>b",
    "&amp;", "succeeded", "latest", "c1", "longest",
    "%{y}", "{0}", "-o", "--exp=/", "\ud800", "A" * 300, "B" * 100_000, "nan", "inf", "1e999", "0", "-1", "ext4",
    "load",
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1, 2, 7, 99, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30,
    0.5, -0.0, 1e18, 1e308, float("nan"), float("inf"), [], {}, [[]], [None], {"": None}, {"a": {"b": []}}, [1, "x"],
)  # fmt: skip
TOKENS = (
    b"NaN",
    b"1e999",
    b"9" * 5000,
    b"[" * 2000,
    b'{"a":' * 500,
    b"\0",
    b"\xff\xfe",
    b"\\ud800",
    b'"',
    b"}",
    b"null",
)
DTYPES = (
    "<i8",
    ">i8",
    "<f8",
    "<u8",
    "|O",
    "<i4",
    "|V8",
    "<U4",
    "i",
    "('<i8', (2,))",
    "[('a','<i8')]",
    "M8[ns]",
    "<i8" * 99,
)
SHAPES = (
    "(4,)",
    "(2, 2)",
    "()",
    "(9223372036854775807,)",
    "(-1,)",
    "(0,)",
    "(4.0,)",
    "(True,)",
    "4",
    "(" * 300,
    "(4,)" * 9,
)


def nested(random: Random) -> object:
    value: object = 1
    for _ in range(random.choice((5, 70, 900))):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def some_value(random: Random) -> object:
    return random.choice((lambda: random.choice(TEXTS), lambda: random.choice(VALUES), lambda: nested(random)))()


def places(value: object) -> list[tuple]:
    """Return every container in a JSON value, with each of its keys."""
    found = []
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys:
            found += [(value, key), *places(value[key])]
    return found


def change_value(file: Path, random: Random) -> None:
    value = json.loads(file.read_bytes())
    container, key = random.choice(places(value) or [({}, "x")])
    action = random.random()
    if action < 0.7:
        container[key] = some_value(random)
    elif action < 0.8:
        del container[key]
    elif isinstance(container, dict):
        container[random.choice(TEXTS)] = container.pop(key) if action < 0.9 else some_value(random)
    else:
        container += [some_value(random)] * random.choice((1, 100))
    file.write_text(json.dumps(value))


def change_packed(file: Path, random: Random) -> None:
    """Change a value in JSON that is compressed."""
    plain = file.with_suffix(".plain")
    plain.write_bytes(zstandard.ZstdDecompressor().decompress(file.read_bytes(), 1 << 20))
    change_value(plain, random)
    file.write_bytes(zstandard.ZstdCompressor().compress(plain.read_bytes()))
    plain.unlink()


def change_line(file: Path, random: Random) -> None:
    """Change a value in a line of JSON."""
    lines = file.read_text().splitlines()
    place = random.randrange(len(lines))
    plain = file.with_suffix(".plain")
    plain.write_text(lines[place])
    change_value(plain, random)
    lines[place] = plain.read_text()
    file.write_text("\n".join(lines) + "\n")
    plain.unlink()


def change_bytes(file: Path, random: Random) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(content) + 1)
        action = random.random()
        if action < 0.3:
            del content[at : at + random.choice((1, 8, len(content)))]
        elif action < 0.6:
            content[at:at] = random.choice(TOKENS)
        elif action < 0.8:
            content[at : at + 8] = random.choice((b"\0" * 8, b"\xff" * 8, b"\xff" * 4, b"\0\0\0\x80"))
        elif at < len(content):
            content[at] ^= 1 << random.randrange(8)
    file.write_bytes(content)


def change_header(file: Path, random: Random) -> None:
    """Give an .npy file another header over the same numbers, or impossible times."""
    if random.random() < 0.3:
        times = np.array([random.choice((0, 1, -1, 2**62, 2**63 - 1, -(2**63), 10**9)) for _ in range(4)])
        np.save(file, np.sort(times) if random.random() < 0.5 else times)
        return
    header = f"{{'descr': {random.choice(DTYPES)!r}, 'fortran_order': False, 'shape': {random.choice(SHAPES)}, }}"
    text = (header + " " * (-len(header) % 64) + "\n").encode()
    version = random.choice((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x63\x00"))
    file.write_bytes(b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + bytes(32))


def put_in_place(file: Path, random: Random, outside: Path) -> None:
    """Put something else under a file's name, perhaps one that the lab is about to write."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    target = random.choice((outside / "victim", outside / "absent", outside / "folder", Path("/dev/zero"), file))
    choice = random.random()
    if choice < 0.5:
        file.symlink_to(target)
    elif choice < 0.7:
        os.mkfifo(file)
    elif choice < 0.8:
        file.mkdir()
    elif choice < 0.9 and len(str(file)) < 100:
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(file))
    else:
        with file.open("wb") as stream:
            stream.truncate(random.choice((0, 1 << 40)))  # the second is sparse, and takes no space


WRITTEN = (
    "timeline.png", "timeline.html", "trace.perfetto-trace", ".timeline.png.partial", ".trace.perfetto-trace.partial",
    "cells.json.zst", "rows", "rows/journal.jsonl", "rows/0000.parquet", "rows/0001.parquet", "out",
    "table.parquet", ".table.parquet.partial", "noisy.parquet", "runs", ".work", "study.json", "report.html",
)  # fmt: skip


def make_hostile(directory: Path, random: Random, outside: Path) -> None:
    """Change a directory in one to three ways."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        there = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
        files = sorted(path for path in there if path.stat().st_size < 1 << 20)
        if not files:
            return
        file = random.choice(files)
        choice = random.random()
        try:
            if choice < 0.1:
                put_in_place(directory / random.choice(WRITTEN), random, outside)
            elif choice < 0.2:
                put_in_place(
                    random.choice([*files, *(path.parent for path in files if path.parent != directory)]),
                    random,
                    outside,
                )
            elif choice < 0.25:
                file.rename(file.with_name(random.choice(("x", "load.\x1b[2J.npy", "load.$\\frac{$.npy", "[/x].json"))))
            elif file.suffix == ".json" and choice < 0.85:
                change_value(file, random)
            elif file.suffix == ".npy" and choice < 0.85:
                change_header(file, random)
            elif file.suffix == ".zst" and choice < 0.85:
                change_packed(file, random)
            elif file.suffix == ".jsonl" and choice < 0.85:
                change_line(file, random)
            else:
                change_bytes(file, random)
        except (ValueError, OSError, RecursionError, zstandard.ZstdError):  # an earlier change made it unreadable
            continue
