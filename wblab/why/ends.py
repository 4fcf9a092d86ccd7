"""How a chain of waits ends, in words."""

from wblab.why.account import Chain

_ENDS = {
    "request": "that ended with a request which a disk was done with",
    "timer": "that ended as its time was over",
    "running": "that one was at work",
    "runnable": "that one had no processor",
    "asleep": "that one slept, by a timer of its own",
    "stopped": "somebody had stopped that one",
    "signal": "a signal cut that off, so the trace does not tell for what it waited",
    "unknown": "why, the trace does not tell",
}


def end_of(chain: Chain) -> str:
    """Return what the last link of a chain waited for, or did."""
    return _ENDS.get(chain.end, chain.end)
