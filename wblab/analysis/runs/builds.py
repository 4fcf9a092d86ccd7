"""What two builds of one kernel differ by: less is no difference between kernels.

Seeds do not reach all that decides a run. Where a timer fires depends on the build to fractions of a microsecond, and a
tick of the kernel's clock rounds that up. It is the same with all seeds, so no number of seeds takes it out.
"""

from typing import TYPE_CHECKING

from wblab.analysis.runs.metrics import UNPLUG

if TYPE_CHECKING:
    from wblab.analysis.runs.comparison import Difference

# Linux 7.2.11 with and without five filesystems, 15 presets, 3 to 20 seeds: 5 of 314 figures differed, by 1.7 to 4.6 %
# or by one tick.
SHARE = 0.05
_TICK_S = 0.01  # CONFIG_HZ=100
_OF_TICK = 0.01

NOTE = (
    f"two builds of one kernel with other options differ too, in a few figures by up to {SHARE:.0%} or by one tick of "
    f"its clock ({_TICK_S * 1000:.0f} ms), with all seeds alike: smaller differences say nothing of a kernel"
).replace("%", " %")


def is_of_build(item: "Difference") -> bool:
    """Whether two builds of one kernel may differ by as much."""
    return (item.relative is not None and abs(item.relative) < SHARE) or _is_one_tick(item)


def _is_one_tick(item: "Difference") -> bool:
    """Whether times differ by one tick with every seed; or at most by one, where ticks decide when a thing ends."""
    found = item.interval
    if item.about.metric == UNPLUG:
        return abs(found.estimate) < _TICK_S * (1 + _OF_TICK)
    return item.about.metric.endswith("_s") and all(
        end is not None and abs(abs(end) - _TICK_S) < _OF_TICK * _TICK_S for end in (found.low, found.high)
    )
