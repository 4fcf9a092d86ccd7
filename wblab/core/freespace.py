"""How the free space of a used filesystem is fragmented: Chopper's layouts.

He et al., "Reducing File System Tail Latencies with Chopper" (FAST 2015), section 3: a share F(i + 1) - F(i) of the
free bytes is in holes of 2^i blocks, where F is a lognormal distribution. One used block separates two holes.
"""

from math import erf, log, sqrt

from wblab.core.streams import constant_stream

UNTOUCHED = 6  # the layout that changes nothing
_MU_SIGMA = {1: (log(2), 1.0), 2: (1.9095, 0.775), 3: (2.4423, 0.55), 4: (2.7881, 0.325), 5: (log(21), 0.1)}
_CLASSES = 30


def holes(layout: int, blocks: int) -> list[int]:
    """Return the sizes of the holes that `blocks` are cut into, in blocks, in their order on the disk.

    layout: 1 (small holes) to 5 (large holes). A small disk may have no large holes.
    """
    shares = [_below(layout, number + 1) - _below(layout, number) for number in range(_CLASSES)]
    free = blocks / (1 + sum(share / 2**number for number, share in enumerate(shares)))
    found = [2**number for number, share in enumerate(shares) for _ in range(int(free * share / 2**number))]
    constant_stream("free space").shuffle(found)
    return found


def _below(layout: int, value: int) -> float:
    """Return F(value): the share of the free bytes in holes of fewer than 2^value blocks."""
    mu, sigma = _MU_SIGMA[layout]
    return (1 + erf((log(value) - mu) / (sigma * sqrt(2)))) / 2 if value else 0.0
