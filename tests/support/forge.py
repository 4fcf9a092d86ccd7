"""Bundles written by somebody hostile: as an attacker would, who knows the format and computes all its digests."""

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

ABOUT = "bundle.json"


@dataclass(frozen=True)
class Piece:
    """A member, with all that its two headers may say. packed: its data in the file, if not deflated `content`."""

    name: bytes
    content: bytes
    packed: bytes | None = None
    method: int = 8
    flags: int = 0
    version: int = 20
    made: int = 3 << 8 | 20
    mode: int = 0o100644 << 16
    time: int = 0
    date: int = 33
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    extra: bytes = b""
    comment: bytes = b""
    before: bytes = b""
    after: bytes = b""
    offset: int | None = None
    local_name: bytes | None = None
    disk: int = 0

    @property
    def data(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return self.content if self.method == 0 else raw(self.content)


def raw(content: bytes) -> bytes:
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packing.compress(content) + packing.flush()


def pieces_of(bundle: bytes) -> list[Piece]:
    """Return the members of a sound bundle."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return [
            Piece(name.encode(), archive.read(name), method=0 if name == ABOUT else 8) for name in archive.namelist()
        ]


def sealed(pieces: list[Piece], **changes: object) -> list[Piece]:
    """Return the members with a bundle.json that lists them as they are."""
    about, *rest = pieces
    told = json.loads(about.content)
    told["packed_sha256"] = hashlib.sha256(b"".join(piece.data for piece in rest)).hexdigest()
    told["files"] = [
        {
            "name": piece.name.decode("latin-1"),
            "size": len(piece.content) if piece.size is None else piece.size,
            "sha256": hashlib.sha256(piece.content).hexdigest(),
        }
        for piece in rest
    ]
    return [replace(about, content=spelt(told | changes)), *rest]


def spelt(about: object) -> bytes:
    return (json.dumps(about, separators=(",", ":")) + "\n").encode()


def written(pieces: list[Piece], *, count: int | None = None, comment: bytes = b"", tail: bytes = b"") -> bytes:
    """Return the archive."""
    body, directory = b"", b""
    for piece in pieces:
        body += piece.before
        at, data = len(body), piece.data
        name = piece.name if piece.local_name is None else piece.local_name
        crc = zlib.crc32(piece.content) if piece.crc is None else piece.crc
        packed = len(data) if piece.packed_size is None else piece.packed_size
        size = len(piece.content) if piece.size is None else piece.size
        form = (piece.method, piece.time, piece.date, crc, packed & 0xFFFFFFFF, size & 0xFFFFFFFF)
        body += struct.pack("<4s5H3I2H", b"PK\3\4", piece.version, piece.flags, *form, len(name), len(piece.extra))
        body += name + piece.extra + data + piece.after
        place = at if piece.offset is None else piece.offset
        directory += struct.pack(
            "<4s6H3I5H2I", b"PK\1\2", piece.made, piece.version, piece.flags, *form, len(piece.name), len(piece.extra),
            len(piece.comment), piece.disk, 0, piece.mode, place,
        )  # fmt: skip
        directory += piece.name + piece.extra + piece.comment
    total = len(pieces) if count is None else count
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, total, total, len(directory), len(body), len(comment))
    return body + directory + end + comment + tail


NAMES = (
    b"../evil", b"/etc/evil", b"..", b".", b"", b"a\0b", b"a\\b", b"left/../../evil", b"left/..", b"left/./a", b"left",
    b"left//a", b"left/", b"runs/x/experiment.json", b"runs/../experiment.json", b"trace.dat/x", b"timeline.html",
    b"table.parquet", b"evil.py", b"\x1b[2J.json", b"load.$\\frac{$.npy", b"Experiment.json", b"load.\xff.npy",
    b"left/" + b"a/" * 20 + b"a", b"left/" + b"x" * 300, b"load." + b"x" * 70 + b".npy", b"bundle.json", b".git/config",
    b"conftest.py", b"experiment.json ", b"experiment.json\n", b"trace.dat.cpu" + b"9" * 400,
)  # fmt: skip
ZIP64 = struct.pack("<HHQQ", 1, 16, 1 << 40, 1 << 40)


def structures(random: Random) -> list[Callable[[list[Piece]], bytes]]:
    """Return attacks on the outer form, each of which leaves the contents and their digests sound."""

    def at(pieces: list[Piece], **changes: object) -> bytes:
        place = random.randrange(len(pieces))
        changed = [*pieces[:place], replace(pieces[place], **changes), *pieces[place + 1 :]]  # type: ignore[arg-type]
        return written(sealed(changed) if place else changed)

    def more(pieces: list[Piece], *added: Piece) -> bytes:
        place = random.randint(1, len(pieces))
        return written(sealed([*pieces[:place], *added, *pieces[place:]]))

    def nested(pieces: list[Piece]) -> bytes:
        inner = written(pieces)
        return written([replace(pieces[0], before=inner), *pieces[1:]])

    def overlapping(pieces: list[Piece]) -> bytes:
        return written([*pieces[:-1], replace(pieces[-1], offset=random.choice((0, 1, 30, 2**31, 2**32 - 1)))])

    some = random.choice
    return [
        lambda pieces: at(pieces, flags=some((1, 8, 1 << 11, 1 << 13, 0x41))),
        lambda pieces: at(pieces, method=some((0, 1, 9, 12, 14, 93, 99))),
        lambda pieces: at(pieces, mode=some((0o120777, 0o040755, 0o010644, 0o020666, 0o104755, 0o100755, 0)) << 16),
        lambda pieces: at(pieces, made=some((0, 20, 3 << 8 | 45, 0xFFFF))),
        lambda pieces: at(pieces, version=some((10, 45, 63, 0xFFFF))),
        lambda pieces: at(pieces, extra=some((b"\x01\x00\x00\x00", ZIP64, b"UT\5\0\3abcd", b"x" * 60000))),
        lambda pieces: at(pieces, comment=some((b"c", b"PK\5\6" + bytes(18), b"c" * 65535))),
        lambda pieces: at(pieces, before=some((b"\0", b"PK\3\4", b"x" * 1000))),
        lambda pieces: at(pieces, after=some((b"\0", b"PK\7\x08" + bytes(12), b"x" * 1000))),
        lambda pieces: at(pieces, time=random.randrange(1, 1 << 16)),
        lambda pieces: at(pieces, date=some((0, 34, 0xFFFF))),
        lambda pieces: at(pieces, crc=random.getrandbits(32)),
        lambda pieces: at(pieces, size=some((0, 1, 2**31 - 1, 2**31, 2**32 - 1))),
        lambda pieces: at(pieces, packed_size=some((0, 1, 2**31 - 1, 2**31, 2**32 - 1))),
        lambda pieces: at(pieces, local_name=some(NAMES)),
        lambda pieces: at(pieces, name=some(NAMES)),
        lambda pieces: at(pieces, disk=some((1, 0xFFFF))),
        lambda pieces: more(pieces, Piece(some(NAMES), b"x")),
        lambda pieces: more(pieces, some(pieces[1:])),
        lambda pieces: more(pieces, Piece(b"left/a", b"x"), Piece(b"left/a/b", b"x")),
        lambda pieces: written(sealed([pieces[0], *random.sample(pieces[1:], len(pieces) - 1)])),
        lambda pieces: written(pieces[1:]),
        lambda pieces: written([pieces[0]] * 2 + pieces[1:]),
        lambda pieces: written(pieces, count=some((0, 1, len(pieces) + 1, 0xFFFF))),
        lambda pieces: written(pieces, comment=some((b"x", b"PK\5\6" + bytes(18), written(pieces)[-22:]))),
        lambda pieces: written(pieces, tail=some((b"\0", b"x" * 5000, written(pieces)))),
        lambda pieces: some((b"#!/bin/sh\nexit\n", b"MZ", b"\0", b"PK\3\4")) + written(pieces),
        nested,
        overlapping,
        lambda pieces: bomb(pieces, random),
        lambda pieces: at(pieces, packed=raw(b"x" * 100) + b"more"),
        lambda pieces: missing(pieces, random),
    ]  # fmt: skip


def bomb(pieces: list[Piece], random: Random) -> bytes:
    """A member of many zeros, which says its size or lies about it."""
    content = bytes(random.choice((3 << 20, 16 << 20, 64 << 20)))
    said = random.choice((None, 10, 1000))
    name = random.choice((b"trace.dat", b"left/zero", b"extents.json", b"load.mw1.npy"))
    others = [piece for piece in pieces if piece.name != name]
    found = sorted([*others[1:], Piece(name, content, size=said)], key=lambda piece: piece.name)
    return written(sealed([others[0], *found]))


def missing(pieces: list[Piece], random: Random) -> bytes:
    """A run or a study without one of the files that it must have."""
    pattern = rb"(load\.\w+\.(npy|json)|experiment\.json|study\.json|cells\.json\.zst)$"
    needed = [piece for piece in pieces[1:] if re.search(pattern, piece.name)]
    gone = random.choice(needed)
    return written(sealed([piece for piece in pieces if piece is not gone]))


def packed_again(bundle: Path, contents: dict[str, bytes]) -> bytes:
    """Return a bundle with other contents, whose digests are right."""
    about, *rest = pieces_of(bundle.read_bytes())
    changed = [replace(piece, content=contents.get(piece.name.decode(), piece.content)) for piece in rest]
    return written(sealed([about, *changed]))
