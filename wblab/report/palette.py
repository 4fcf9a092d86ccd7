"""The look of each outcome of a claim or a recommendation on pages and in pictures: one word, one colour, one sign.

Colour-blind readers can distinguish the green from the red, because it is bluish (Okabe and Ito, "Color Universal
Design", 2008). Each outcome also has a sign. Every text is readable on white and on its own tint, and so are the dark
colours on a dark page and on their tints: the contrast is at least 4.5 (WCAG 2.1, success criterion 1.4.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass

YES, NO, OPEN = "#00684c", "#a3261b", "#5f5f5f"  # also for better, worse, and neither shown
WHITE, DARK = "#ffffff", "#16191c"  # the two papers


@dataclass(frozen=True)
class Look:
    """The look of an outcome. style: its CSS class; colour: of its text; tint: of the background; sign: in a table.

    dark, dark_tint: colour and tint on a dark page.
    """

    word: str
    style: str
    colour: str
    tint: str
    sign: str
    dark: str
    dark_tint: str


REPRODUCED = Look("reproduced", "yes", YES, "#e6f3ef", "●", "#6fd3b1", "#17332b")
NOT_REPRODUCED = Look("not reproduced", "no", NO, "#fbeae8", "○", "#ff9a8f", "#3b201d")
HARMS = Look("harms", "harm", NO, "#f6d5d0", "▲", "#ff9a8f", "#55231d")
NOT_DECIDED = Look("not decided", "undecided", OPEN, "#f4f4f4", "?", "#b4b9bf", "#22272c")
NOT_TESTABLE = Look("not testable", "untestable", OPEN, WHITE, "–", "#b4b9bf", DARK)
LOOKS = (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED, NOT_TESTABLE)

_BY_WORD: Mapping[str, Look] = {look.word: look for look in LOOKS}


def look_of(outcome: str) -> Look:
    """Return the look of an outcome."""
    return _BY_WORD[outcome]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, #rrggbb, from 1 to 21 (WCAG 2.1, relative luminance)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
