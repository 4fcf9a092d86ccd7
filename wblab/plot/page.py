"""The timeline of a run as a page: one HTML file with the panes of the picture, zoom and hover texts.

uPlot draws axes and the cursor; `assets/timeline.js` draws the marks, which are in the page as data. The page loads
nothing, and its policy permits no script but its own.
"""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.lab.formats import PAGE
from wblab.lab.printable import printable
from wblab.plot.marks import Blocks, Pane, Timeline
from wblab.plot.pagemarks import BLOCK_COLUMNS, colours, mark_data, pane_data
from wblab.report.page import packed, render, write_page
from wblab.report.quantities import quantity

SCRIPTS = ("uPlot.iife.min.js", "packed.js", "timeline.js")  # in the order in which a page has them
STYLES = ("uPlot.min.css", "timeline.css")


def page(timeline: Timeline) -> dict[str, Any]:
    """Return a timeline as its page has it: panes of marks, what all panes share, and the meanings of colours."""
    zero_ns = timeline.run.zero_ns
    loads = sum(isinstance(mark, Blocks) for pane in timeline.panes for mark in pane.marks)
    columns = BLOCK_COLUMNS // max(1, loads)
    return {
        "shown": timeline.shown_s,
        "panes": [pane_data(pane, zero_ns, columns) | {"says": _says(pane, zero_ns)} for pane in timeline.panes],
        "everywhere": [mark_data(mark, zero_ns) for mark in timeline.everywhere],
        "starts": [[(start_ns - zero_ns) / NS_PER_S, printable(text)] for start_ns, text in timeline.starts],
        "meanings": [
            {
                "group": meaning.group,
                "colours": [colours(colour) for colour in meaning.colours],
                "text": printable(meaning.text),
                "hatched": meaning.is_hatched,
            }
            for meaning in timeline.meanings
        ],
    }


def save_page(timeline: Timeline, path: Path) -> None:
    """Write a page as one self-contained HTML file; the same timeline gives the same bytes.

    Raises InputError for another suffix, WblabError if the file cannot be written.
    """
    if path.suffix.lower() != PAGE:
        raise InputError(f"cannot write a page to {str(path)!r}: its name must end in {PAGE}")
    scripts = [asset(name).decode() for name in SCRIPTS]
    text = render(
        "wblab.plot",
        "timeline.html",
        title=f"{printable(timeline.run.name.lstrip('_'))}: timeline",
        lines=[printable(line) for line in timeline.title.splitlines()],
        failed=bool(timeline.run.failure),
        scripts=scripts,
        digests=[digest(script) for script in scripts],
        styles=[asset(name).decode() for name in STYLES],
        packed=packed(page(timeline)),
    )
    write_page(path, text)


def asset(name: str) -> bytes:
    """Return a script or a style of the page."""
    return (files("wblab.plot") / "assets" / name).read_bytes()


def digest(script: str) -> str:
    """Return a script's digest as a content security policy has it: one with another digest does not run."""
    return b64encode(sha256(script.encode()).digest()).decode()


def _says(pane: Pane, zero_ns: int) -> str:
    """Return a sentence for readers who do not see a pane of cycles."""
    for mark in pane.marks:
        if isinstance(mark, Blocks) and len(mark.pauses_s):
            count, longest = int(mark.paused.sum()), int(mark.pauses_s.argmax())
            if not count:
                return f"No pause over {quantity(mark.bound_s, 's')}."
            at_s = (int(mark.edges_ns[longest]) - zero_ns) / NS_PER_S
            many = "1 pause" if count == 1 else f"{count} pauses"
            of_them = "" if count == 1 else ", the longest"
            return (
                f"{many} over {quantity(mark.bound_s, 's')}{of_them} of {quantity(mark.pauses_s[longest], 's')}, "
                f"in a cycle from {at_s:.3f} s."
            )
    return ""
