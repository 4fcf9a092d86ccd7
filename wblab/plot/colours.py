"""Colours of loads and tasks: a load has the same one in every pane of a picture, on its page and in the monitor.

Colour-blind readers can distinguish them (Okabe and Ito, "Color Universal Design", 2008). Innocent loads are blue and
offenders are grey, so that roles can be recognised at once. No load has the colour of a pause.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from wblab.core.loads import Load

PAUSE = "#D55E00"
CONTROL = "#009E73"
INNOCENT = ("#0072B2", "#56B4E9", "#332288", "#8DA0CB", "#0B4F6C", "#A6CEE3")
OFFENDERS = ("#6B6B6B", "#A0A0A0", "#3D3D3D")

# For everything without a colour of its own, most important first.
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#6B6B6B", "#000000")

OTHERS = "#BBBBBB"  # for the rest, when the series is used up


def load_colours(loads: Mapping[str, Load | type[Load]]) -> dict[str, str]:
    """Return the colour of each load by name: the next colour of its role, in the order of the spec."""
    colours, counts = {}, dict.fromkeys((INNOCENT, OFFENDERS), 0)
    for name, load in loads.items():
        if load.role == "control":
            colours[name] = CONTROL
            continue
        family = INNOCENT if load.role == "innocent" else OFFENDERS
        colours[name] = family[counts[family] % len(family)]
        counts[family] += 1
    return colours


def task_colours(tasks: Any, loads: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each task, the most frequent first; tasks without a colour are left out.

    loads: the colours of loads; a load's task has the same colour.
    """
    import numpy as np

    found, counts = np.unique(np.asarray(tasks, dtype=str), return_counts=True)
    ordered = sorted(zip(found.tolist(), counts.tolist(), strict=True), key=lambda item: (-item[1], item[0]))
    names = [name for name, _ in ordered][: len(SERIES)]
    others = dict(zip((name for name in names if name not in loads), unused(loads.values()), strict=False))
    colours = {**loads, **others}
    return {name: colours[name] for name in names if name in colours}


def unused(taken: Collection[str] | Iterable[str]) -> Sequence[str]:
    """Return the colours of the series that are not taken."""
    taken = set(taken)
    return [colour for colour in SERIES if colour not in taken]
