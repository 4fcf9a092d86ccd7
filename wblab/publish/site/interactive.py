"""The timeline that can be zoomed: the figure of `wblab timeline --format html`, packed; all pages share one library.

Numbers are 32-bit floats, each array once, and the whole is compressed. A line keeps the least, the greatest, the first
and the last value of each of more columns than a screen has (wblab/plot/traces.py).
"""

import json
from base64 import b64decode, b64encode
from typing import Any

import numpy as np

from wblab.plot.marks import Timeline
from wblab.plot.page import CONFIG, LEAST_WIDTH, page
from wblab.publish.site.page import File, packed
from wblab.publish.site.page import page as site_page

PLOTLY = "assets/plotly.min.js"
TIMELINE = "timeline.html"
_NUMBERS = ("x", "y", "customdata")


def interactive(timeline: Timeline, folder: str, title: str) -> File:
    """Return the page of a timeline, in a folder of the site."""
    return site_page(
        f"{folder}/{TIMELINE}",
        f"Timeline: {title}",
        "timeline.html",
        packed=packed(_smaller(page(timeline))),
        width=LEAST_WIDTH,
    )


def library() -> File:
    """Return the plotting library, which all such pages share."""
    from plotly.offline import get_plotlyjs

    return File(PLOTLY, get_plotlyjs().encode())


def _smaller(figure: Any) -> dict[str, Any]:
    """Return a figure of Plotly as data, with each array once; see assets/timeline.js."""
    content = json.loads(figure.to_json())
    arrays: dict[str, int] = {}
    for trace in content["data"]:
        for key in _NUMBERS:
            if isinstance(array := trace.get(key), dict):
                trace[key] = arrays.setdefault(_floats(array), len(arrays))
    return {"data": content["data"], "layout": content["layout"], "config": CONFIG, "arrays": list(arrays)}


def _floats(array: dict[str, str]) -> str:
    numbers = np.frombuffer(b64decode(array["bdata"]), array["dtype"])
    return b64encode(numbers.astype("<f4").tobytes()).decode()
