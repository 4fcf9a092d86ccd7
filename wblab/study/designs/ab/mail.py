"""A block for a mailing list: at most 72 columns, whatever the names are, with the command that repeats it."""

import shlex
import textwrap
from collections.abc import Sequence

from wblab import __version__
from wblab.lab.printable import printable
from wblab.report import quantities
from wblab.study.designs.ab.claims import claims
from wblab.study.designs.ab.plan import Step
from wblab.study.designs.ab.result import Result
from wblab.study.designs.ab.words import counts, headline, seeds, trust

WIDTH = 72
_MOST_ROWS = 12
_CONTINUED = 4  # columns: further lines of a command


def mail(found: Result) -> list[str]:
    """Return the block, a line each."""
    lines = [*_filled(headline(found)), ""]
    for name, place in _ends(found):
        state, kernel = found.asked.states[place], found.kernels[place]
        lines += _filled(f"{name}: {state.label} (Linux {kernel['release']}; {kernel['source']})", "   ")
    lines += ["", *(_steps(found) if len(found.asked.steps) > 1 else []), *_claims(found), ""]
    whole = found.figures.whole
    level = f"; intervals of {quantities.confidence(whole.confidence)}" if whole else ""
    lines += _filled(f"{counts(found.figures)}; {seeds(found)} of each side{level}.")
    for note in found.memory:
        lines += _filled(f"Note: {note}.")
    lines += ["", *_filled(trust(found)), ""]
    lines += _filled(f"To repeat it with wblab {__version__}:")
    lines += command(shlex.split(found.asked.command), _CONTINUED)
    digests = ", ".join(f"{name} {value}" for name, value in found.specs.items())
    return lines + _filled(f"Digests of the specs: {digests}")


def command(words: Sequence[str], indent: int = 0) -> list[str]:
    """Return a command for a shell, in lines that fit: each but the last ends in a backslash.

    A word that is too long is divided: the shell joins its quoted parts again, as nothing is between them.
    """
    room = WIDTH - 2 - indent  # a space and the backslash
    lines = [""]
    for word in words:
        first, *further = _parts(printable(word), room)
        if not further and lines[-1] and len(lines[-1]) + 1 + len(first) <= room:
            lines[-1] += f" {first}"
        elif lines == [""]:
            lines[-1] = first
        else:
            lines[-1] += " "
            lines.append(first)
        lines += further
    joined = [f"{line}\\" for line in lines[:-1]] + [lines[-1].rstrip(" ")]
    # What continues a divided word must begin its line.
    begins = [True, *(line.endswith(" ") for line in lines[:-1])]
    return [f"{' ' * indent if begin else ''}{line}" for begin, line in zip(begins, joined, strict=True)]


def _parts(word: str, room: int) -> list[str]:
    """Return a word as one quoted part, or as several that fit."""
    quoted = shlex.quote(word)
    if len(quoted) <= room:
        return [quoted]
    most = next(count for count in range(len(word), 0, -1) if len(shlex.quote(word[:count])) <= room)
    return [shlex.quote(word[:most]), *_parts(word[most:], room)]


def _ends(found: Result) -> list[tuple[str, int]]:
    return [("A", 0), ("B", len(found.asked.states) - 1)]


def _filled(said: str, indent: str = "") -> list[str]:
    return textwrap.wrap(printable(said), WIDTH, subsequent_indent=indent) or [""]


def _steps(found: Result) -> list[str]:
    """Return how many figures each step changes."""
    lines = []
    for number, step in enumerate(found.asked.steps):
        lines += _filled(
            f"{number + 1}. {_changes(found, number, step)}: {found.asked.states[step.after].subject}", "   "
        )
    return [*lines, ""]


def _changes(found: Result, number: int, step: Step) -> str:
    if found.asked.same_program(step):
        return "the same program"
    count = len(found.figures.of(number).claimed)
    return f"{count} figure{'' if count == 1 else 's'} differ{'s' if count == 1 else ''}" if count else "no difference"


def _claims(found: Result) -> list[str]:
    """Return the claimed differences, the largest first."""
    claimed = found.figures.claimed
    if not claimed:
        return ["No difference is claimed."]
    more = [f"and {len(claimed) - _MOST_ROWS} more"] if len(claimed) > _MOST_ROWS else []
    return [*claims(claimed[:_MOST_ROWS], WIDTH, numbered=len(found.asked.steps) > 1), *more]
