"""Foreign names reach a terminal as text and never as control characters."""

import pytest

from wblab.lab.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mw1", "mw1"),
        ("a b", "a b"),
        ("Größe 大 ✓ C:\\x", "Größe 大 ✓ C:\\x"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b[2J", r"\x1b[2J"),
        ("one\ntwo\r\tthree", r"one\ntwo\r\tthree"),
        ("\x00\x7f\x80\x9b", r"\x00\x7f\x80\x9b"),
        ("exe\u202efdp", r"exe\u202efdp"),
        ("\u2066\u2069\u200b\u200f", r"\u2066\u2069\u200b\u200f"),
        ("\u2028\u2029\x85", r"\u2028\u2029\x85"),
        ("\udc9b", r"\udc9b"),
        ("\U000e0001", r"\U000e0001"),
        ("", ""),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_every_character_becomes_printable_and_encodable() -> None:
    for code in range(0x110000):
        shown = printable(chr(code))
        assert shown.isprintable()
        shown.encode()


def test_printable_text_is_unchanged() -> None:
    once = printable("\x1b[31m\u202e")
    assert printable(once) == once
