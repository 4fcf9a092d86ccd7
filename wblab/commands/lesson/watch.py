"""Bare wblab lesson: where the student is; on a terminal, check whatever is saved."""

import argparse
import sys
import time
from typing import TYPE_CHECKING

from wblab.commands.common import print_wrapped
from wblab.commands.lesson.checked import checked, say
from wblab.commands.lesson.options import folder, place
from wblab.core.errors import WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.lessons.place import Place

_EACH_S = 0.5


def go_on(arguments: argparse.Namespace) -> None:
    """Check the current lesson; on a terminal, check it again whenever a file of it is saved, until interrupted."""
    from wblab.commands.lesson.start import say_begun

    if not folder(arguments).begun():
        print_wrapped(
            [
                "No lesson is begun here. Begin with the first:",
                "    wblab lesson start 1",
                "",
                "All lessons:",
                "    wblab lesson start --list",
            ]
        )
        return
    say_begun(at := place(arguments))
    if not sys.stdout.isatty():
        return
    before = _saved(at)  # a file that is saved as soon as the next line is read counts
    print_wrapped(["", "Waiting for you to save a file. Ctrl-C ends."])
    try:
        _watch(arguments, at, before)
    except KeyboardInterrupt:
        print()


def _watch(arguments: argparse.Namespace, at: "Place", before: dict[str, int]) -> None:
    while True:
        time.sleep(_EACH_S)
        if (now := _saved(at)) == before:
            continue
        before = now
        print()
        try:
            say(*checked(place(arguments)))
        except WblabError as error:
            print(printable(f"wblab: {error}"))


def _saved(at: "Place") -> dict[str, int]:
    """Return when each file of the current lesson was last saved."""
    found = {}
    for path in sorted(at.directory.glob("*.toml")):
        try:
            found[path.name] = path.stat().st_mtime_ns
        except OSError:  # an editor may be replacing it
            continue
    return found
