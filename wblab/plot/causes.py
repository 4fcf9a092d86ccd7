"""Pauses of a timeline by cause: seconds, colours and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wblab.analysis.why.account import UNEXPLAINED
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.shares import of_all
from wblab.core.units import NS_PER_S
from wblab.plot.artists import new_axes
from wblab.plot.marks import Blocks, Part
from wblab.plot.style import MARK, OTHERS, cause_colour, cause_colours, literal
from wblab.report.whytext import heading, main_causes, of_cause, of_rest

# Pauses as stacked bars of their causes.

_LEAST = 0.001  # of all pauses: a smaller cause has no entry in the legend


def causes_axes(found: Sequence[Explanation], ax: Any = None) -> Any:
    """Return axes with one bar for each pause, stacked by cause."""
    ax = ax if ax is not None else new_axes(max(2, 0.3 * len(found)))
    total_ns = sum(item.pause_ns for item in found)
    parts = list(dict.fromkeys(what for item in found for what in item.parts))
    colours = cause_colours(parts)
    ends = [0.0] * len(found)
    for what in parts:
        times = [item.parts.get(what, 0) / NS_PER_S for item in found]
        label = what if sum(times) * NS_PER_S > _LEAST * total_ns else "_"
        look = {"hatch": "////", "edgecolor": MARK} if what == UNEXPLAINED else {}
        ax.barh(range(len(found)), times, left=ends, color=colours[what], label=label, **look)
        ends = [end + time for end, time in zip(ends, times, strict=True)]
    names = [f"{item.number}. {item.load} at {item.start_ns / NS_PER_S:.1f} s" for item in found]
    ax.set_yticks(range(len(found)), [literal(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.03 * max(ends, default=1.0))
    ax.set_xlabel("paused (s)")
    if found:
        ax.legend(loc="lower right", frameon=False)
    return ax


OTHER = "other"
_LITTLE = 0.01  # of all pauses shown: a smaller cause has no colour of its own


@dataclass(frozen=True)
class Causes:
    """The explanations of the pauses shown, by load and by the start of their cycles, ns of the run's clock.

    names: causes with a colour, largest first; listed: those large enough for the legend.
    """

    pauses: Mapping[tuple[str, int], Explanation]
    names: tuple[str, ...]
    listed: tuple[str, ...]

    def of(self, blocks: Blocks) -> Blocks:
        """Return the cycles of a load with the parts of their pauses, as far as they are explained."""
        found = [self.pauses.get((blocks.name, start_ns)) for start_ns in blocks.edges_ns[:-1].tolist()]
        if not any(found):
            return blocks
        rows = [self._shares_s(item) if item else {} for item in found]
        parts = (
            Part(name, np.array([row.get(name, 0.0) for row in rows]), colour_of(name), is_hatched=name == UNEXPLAINED)
            for name in self.names
        )
        words = np.array([in_words(item) if item else "" for item in found], object)
        return replace(blocks, parts=tuple(part for part in parts if part.seconds.any()), hover=words)

    def _shares_s(self, item: Explanation) -> dict[str, float]:
        shares = dict.fromkeys(self.names, 0.0)
        for what, time_ns in item.parts.items():
            shares[what if what in shares else OTHER] += time_ns / NS_PER_S
        return shares


def causes_of(found: Sequence[Explanation], zero_ns: int) -> Causes:
    """Return the causes of a run's pauses; times count from `zero_ns`. The legend always names the unknown part."""
    sums = of_all(found)
    least_ns = _LITTLE * sum(sums.values())
    own = [what for what, time_ns in sums.items() if time_ns >= least_ns and what != UNEXPLAINED]
    own += [UNEXPLAINED] if UNEXPLAINED in sums else []
    rest_ns = sum(time_ns for what, time_ns in sums.items() if what not in own)
    names = (*own, OTHER) if rest_ns else tuple(own)
    pauses = {(item.load, item.start_ns + zero_ns): item for item in found}
    return Causes(pauses, names, names if rest_ns >= least_ns else tuple(own))


def colour_of(name: str) -> str:
    """Return the colour of a cause; small causes share one."""
    return OTHERS if name == OTHER else cause_colour(name)


def in_words(item: Explanation) -> str:
    """Return what 'wblab why' prints for a pause, one sentence a line, without the evidence."""
    causes = [text for cause in main_causes(item) for text in of_cause(item, cause)]
    return "\n".join([heading(item), *causes, *of_rest(item)])
