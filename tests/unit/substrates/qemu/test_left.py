"""What a guest sends as its results may be anything."""

import base64
import io
import json
import os
import random
import resource
import tarfile
import zlib
from contextlib import suppress

import pytest

from wblab.core.errors import WblabError
from wblab.substrates.qemu.left import take_over

MOST_BYTES = 1 << 20


def sent(files: dict[str, bytes]) -> bytes:
    """Return what the guest's program writes (wblab/substrates/qemu/guest/main.py)."""
    return packed(b"".join(b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in files.items()))


def packed(content: bytes) -> bytes:
    return base64.encodebytes(zlib.compress(content))


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def refused(text: bytes, run, reason: str) -> None:
    with pytest.raises(WblabError, match=rf"^the guest's results cannot be read: {reason}"):
        take_over(text, run, MOST_BYTES)
    assert os.listdir(run) == []


def test_the_files_of_a_run_are_kept(run):
    files = {"load.w1.npy": bytes(range(256)) * 9, "load.w1.json": b"{}\n\n", "trace.dat": b"", "disks.json": b"a 1\nb"}
    take_over(sent(files), run, MOST_BYTES)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == files


def test_the_queues_of_its_disks_are_returned_and_no_file(run):
    found = {"slow": {"device": "sda", "nr_requests": 64, "scheduler": "none [mq-deadline]"}}
    assert take_over(sent({"queues.json": json.dumps(found).encode(), "trace.dat": b"x"}), run, MOST_BYTES) == found
    assert os.listdir(run) == ["trace.dat"]
    assert take_over(sent({}), run, MOST_BYTES) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"1",
        b'{"slow": 1}',
        b'{"slow": {"nr_requests": [1]}}',
        b'{"slow": {"rotational": true}}',
        b"{" * 99999,
    ],
)
def test_queues_that_are_none_are_refused(run, data):
    refused(sent({"queues.json": data}), run, "")


@pytest.mark.parametrize(
    "name",
    [
        *("experiment.json", "console.log", "guest.json", "/etc/passwd", "/tmp/load.x.npy", "../load.x.npy", "..", "."),
        *("a/load.x.npy", "load.../../x.npy", "load.\x1b[2J.npy", "load.ü.npy", "load.x.npy\0", "left"),
    ],
)
def test_files_with_other_names_are_not_kept(run, name):
    take_over(sent({name: b"planted", "trace.dat": b"x"}), run, MOST_BYTES)
    assert os.listdir(run) == ["trace.dat"]
    assert os.listdir(run.parent) == ["run"]


def test_a_file_that_is_there_is_not_replaced(run, tmp_path):
    (tmp_path / ".bashrc").write_text("mine")
    (run / "trace.dat").symlink_to(tmp_path / ".bashrc")
    (run / "load.x.npy").write_text("mine")
    for name in ("trace.dat", "load.x.npy"):
        with pytest.raises(FileExistsError):
            take_over(sent({name: b"evil"}), run, MOST_BYTES)
        assert (run / name).read_text() == "mine"


@pytest.mark.parametrize("text", [b"", b"\n", b"====", b"A", b"\xff\xfe\0", b"not base64 at all!", packed(b"")[:-6]])
def test_what_is_no_packed_text_is_refused(run, text):
    refused(text, run, ".")


def test_results_that_are_cut_off_are_refused(run):
    whole = sent({"trace.dat": random.Random(1).randbytes(3000)})
    for length in (10, 100, len(whole) // 2, len(whole) - 12):
        refused(whole[: length // 4 * 4], run, "they are cut off|Error|Incorrect")
    refused(packed(b"trace.dat 10\nshort"), run, "a file is cut off")
    refused(packed(b"trace.dat 999999999999\n"), run, "a file is cut off")


@pytest.mark.parametrize(
    "content",
    [
        *(b"trace.dat", b"trace.dat\n", b" 5\nabcde", b"trace.dat -5\nabcde", b"trace.dat 5abcde", b"\n\n\n"),
        *(b"trace.dat 9999999999999999\n", b"trace.dat 1_0\n0123456789", b"a b 5\nabcde", b"x" * 300 + b" 1\na"),
    ],
)
def test_a_file_without_name_and_length_is_refused(run, content):
    refused(packed(content), run, "a file has no name and length")


def test_a_bomb_is_not_unpacked(run):
    bomb = sent({"trace.dat": bytes(1 << 28)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(bomb, run, "they are more than 1 MiB: trace fewer events")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # in KiB


def test_too_many_files_are_refused(run):
    refused(sent({f"load.x{number}.npy": b"" for number in range(1001)}), run, "there are more than 1000 files")
    refused(sent({f"x{number}": b"" for number in range(1001)}), run, "there are more than 1000 files")
    take_over(sent({f"load.x{number}.npy": b"" for number in range(1000)}), run, MOST_BYTES)


def test_an_archive_of_tar_is_refused(run):
    """Such archives hold links, and files that claim to be far larger than they are."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        link = tarfile.TarInfo("trace.dat")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refused(packed(file.getvalue()), run, "a file has no name and length")


def test_random_bytes_change_nothing_outside(run):
    chance = random.Random(7)
    good = b"trace.dat 5\nabcdeload.x.npy 3\nabc"
    for number in range(2000):
        content = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = (
                chance.choice(b"0 9\n/.\0\xff") if number % 2 else chance.randrange(256)
            )
        place = run / str(number)
        place.mkdir()
        with suppress(WblabError):
            take_over(packed(bytes(content)), place, MOST_BYTES)
        assert set(os.listdir(place)) <= {"trace.dat"} | {path.name for path in place.glob("load.*.npy")}
    assert os.listdir(run.parent) == ["run"]
