"""The page to play with: one file that needs no other and asks nothing of any server."""

import shlex
from collections.abc import Iterator
from importlib.resources import files as resources
from typing import Any

from wblab import __version__
from wblab.lab.printable import printable
from wblab.plot.page import digest
from wblab.publish.site.explore.positions import Explored
from wblab.publish.site.explore.questions import NEVER_S, SAME, rounds
from wblab.publish.site.explore.words import KNOBS, knob_words, lane_words
from wblab.publish.site.page import EXPLORE, PACKAGE, File
from wblab.report.page import packed, render

DATA = "explore.json"
TITLE = "Freeze a computer: one program copies a file, others stand still"
_ASSETS = resources(PACKAGE) / "assets"
_SHARED = resources("wblab.plot") / "assets"
_EXPLORE = resources(PACKAGE) / "templates" / "explore"
_OWN_START, _START = "A slow disk, and Linux as it comes", "With the first setting of each knob"
_BUILD = 12  # letters of a kernel's build that the page shows
_MOST_S = 90.0  # of a lane: a load that ends later is cut off


def explore_files(found: Explored) -> Iterator[File]:
    """Yield the page of some positions, and the file of what it shows, which `kept` reads."""
    yield File(DATA, found.to_text().encode())
    yield _page(found)


def _page(found: Explored) -> File:
    style, script = (
        "".join((folder / f"{name}.{kind}").read_text() for folder, name in parts)
        for kind, parts in (
            ("css", ((_EXPLORE, "explore"), (_ASSETS, "lanes"))),
            ("js", ((_SHARED, "packed"), (_ASSETS, "lanes"), (_EXPLORE, "explore"))),
        )
    )
    style = render("wblab.report", "colours.css") + style
    text = render(
        PACKAGE,
        "explore/explore.html",
        title=TITLE,
        start=_OWN_START if {knob.name for knob in found.knobs} <= KNOBS.keys() else _START,
        root="",
        positions=len(found.positions),
        kernel=printable(found.kernel),
        build=printable(found.build)[:_BUILD],
        version=__version__,
        style=style,
        style_hash=digest(style),
        script=script,
        script_hash=digest(script),
        data=packed(_data(found)),
    )
    return File(EXPLORE, text.encode())


def _data(found: Explored) -> dict[str, Any]:
    """Return what the page's script shows."""
    names, known = [knob.name for knob in found.knobs], list(KNOBS)
    return {
        "same": SAME,
        "never": NEVER_S,
        "flow": sorted(
            range(len(names)), key=lambda knob: known.index(names[knob]) if names[knob] in known else len(known)
        ),
        "rounds": [[{"at": one.at, "knob": one.knob, "to": one.to} for one in each] for each in rounds(found)],
        "preset": found.preset,
        "settings": list(map(shlex.quote, found.settings)),
        "duration": min(found.duration_s, _MOST_S),
        "knobs": [
            {
                "title": printable(words.title),
                "about": words.about,
                "because": words.because,
                "levels": list(map(printable, knob.levels)),
                "settings": [list(map(shlex.quote, level)) for level in knob.settings],
            }
            for knob in found.knobs
            for words in [knob_words(knob.name)]
        ],
        "lanes": [
            {"name": printable(lane.name), "title": title, "does": does, "role": lane.role}
            for lane in found.lanes
            for title, does in [lane_words(lane)]
        ],
        "positions": {
            ",".join(map(str, one.at)): {
                "longest": one.longest_s,
                "why": list(map(printable, one.sentences)),
                "digest": one.digest,
                "works": one.works,
                "frozen": one.frozen,
            }
            for one in found.positions
        },
    }
