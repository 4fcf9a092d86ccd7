"""What a reader who knows no load calls one: an everyday program for which it stands in. Lanes have both names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Calling:
    """What a kind of load is called. short: beside its name; whole: in a sentence; does: what it does, in short."""

    short: str
    whole: str
    does: str


# By kind of load. A kind that is missing stands in for nothing that all know: its loads have their names alone.
CALLINGS: Mapping[str, Calling] = {
    "write": Calling("editor", "a text editor", "adds a byte to a file"),
    "multiwrite": Calling("mail", "a mail program", "makes a small new file"),
    "commit": Calling("database", "a database", "commits a record"),
    "read": Calling("reader", "a program that reads", "reads a piece of a large file"),
    "serve": Calling("server", "a server", "answers requests, and writes a log"),
    "load": Calling("copy", "the copy", "writes a large file"),
    "control": Calling("clock", "a clock", "only sleeps, and never touches the disk"),
}


_WORD = 3  # letters
_SECOND_S = 0.75  # from then on, a number of times a second would be once


def called(kind: str, name: str) -> str:
    """Return the name of a load with what it is called: `editor w1`. A name that is a word says itself what it is."""
    short = CALLINGS[kind].short if kind in CALLINGS else ""
    is_word = name.isalpha() and len(name) >= _WORD
    return name if is_word or name.startswith(short) else f"{short} {name}"


def doing(kind: str, idle_s: float) -> str:
    """Return what a kind of load does, and how often if it sleeps in between; empty if it stands for nothing."""
    if kind not in CALLINGS:
        return ""
    often = f"{round(1 / idle_s)} times a second" if 0 < idle_s < _SECOND_S else f"every {idle_s:g} s"
    return f"{CALLINGS[kind].does}{f', {often}' if idle_s else ''}"


def introduced(text: str, kinds: Mapping[str, str]) -> str:
    """Return a sentence with what loads are called, each where it is named first: `copy l1 ..., of l1`.

    kinds: of all loads, by name. A name that is a word stays as it is, as the sentence may have that word for something
    else; and so does a row of loads, such as `l1 to l6`.
    """
    first = {
        found.start(): name
        for name in kinds
        if not name.isalpha()
        and (found := re.search(rf"(?<![\w./-])(?<!\d to ){re.escape(name)}(?![\w/-])(?! to \w*\d)", text))
    }
    for at, name in sorted(first.items(), reverse=True):
        whole = called(kinds[name], name)
        if not text[: at + len(name)].endswith(whole):  # it may have been introduced before
            text = f"{text[:at]}{whole}{text[at + len(name) :]}"
    return text
