"""What a guest says of a program: a stranger's words, read in any pieces, bounded, and passed on as they come."""

import os
import threading

import pytest

from wblab.on.heard import Said, UnreadError, listening
from wblab.on.order import ERR, EXIT, MOST_BYTES, NOTE, OUT, Frames, frame


def test_what_the_guest_says_is_read_in_any_pieces_and_nonsense_left_out():
    said = frame(OUT, b"a\nb") + b"\0\xff garbage\n" + b"ono base64!\n" + frame(ERR, b"") + frame(EXIT, b"3")
    for size in (1, 7, len(said)):
        frames = Frames()
        pieces = (said[at : at + size] for at in range(0, len(said), size))
        assert [found for piece in pieces for found in frames.feed(piece)] == [(OUT, b"a\nb"), (ERR, b""), (EXIT, b"3")]


def through(sinks, *frames):
    with listening(sinks) as (said, writing):
        for one in frames:
            os.write(writing, one)
    return said


def test_output_goes_on_byte_by_byte_and_the_end_is_kept(tmp_path):
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        sinks = {OUT: out.fileno(), ERR: err.fileno()}
        said = through(sinks, frame(OUT, b"\0\xff"), frame(ERR, b"e"), frame(NOTE, b"n"), frame(EXIT, b"7 12"))
    assert ((tmp_path / "out").read_bytes(), (tmp_path / "err").read_bytes()) == (b"\0\xff", b"e")
    assert (said.code, said.time_ns, said.notes) == (7, 12, ["n"])


def test_a_reader_that_is_slow_does_not_hold_the_guest_up():
    reading, writing = os.pipe()
    content, got = bytes(1000), bytearray()

    def read_late():
        with open(reading, "rb") as source:
            got.extend(source.read())

    with listening({OUT: writing, ERR: writing}) as (said, guest):
        for _ in range(1000):  # far more than pipes hold: nobody reads yet
            os.write(guest, frame(OUT, content))
        threading.Thread(target=read_late).start()
    os.close(writing)
    assert said.last(OUT, 10) == (bytes(10), False)


def test_a_reader_that_is_gone_ends_the_run_and_a_full_disk_is_said():
    reading, writing = os.pipe()
    os.close(reading)
    said = through({OUT: writing, ERR: writing}, frame(ERR, b"x"))
    said.check_read()  # who does not read errors may still read the rest
    said = through({OUT: writing, ERR: writing}, frame(OUT, b"x"))
    with pytest.raises(UnreadError):
        said.check_read()
    os.close(writing)
    with open("/dev/full", "wb", buffering=0) as full:
        said = through({OUT: full.fileno(), ERR: full.fileno()}, frame(OUT, b"x"))
    assert said.unwritten == "cannot write what it prints: No space left on device"


def test_a_guest_that_prints_or_notes_without_end_is_not_heard():
    said = Said()
    heard = sum(said.hear(OUT, bytes(1 << 20)) for _ in range(200))
    assert MOST_BYTES >> 20 <= heard <= (MOST_BYTES >> 20) + 1
    for _ in range(200):
        said.hear(NOTE, b"n")
    assert len(said.notes) == 100


@pytest.mark.parametrize("content", [b"", b"x", b"256 1", b"-1 1", b"1e3 1"])
def test_an_exit_code_that_is_none_is_the_labs_own_failure(content):
    said = Said()
    said.hear(EXIT, content)
    assert said.code == 125
