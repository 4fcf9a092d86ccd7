"""How a chain of waits ends, in words."""

from wblab.analysis.why.account import Chain

_ENDS = {
    "request": "a disk's completion of a request ended that",
    "timer": "a timer ended that",
    "running": "that task was running",
    "runnable": "that task was ready, but had no processor",
    "asleep": "that task slept on a timer of its own",
    "stopped": "that task was stopped from outside",
    "signal": "a signal, such as one to end, ended that wait",
    "unknown": "the trace does not show why",
}


def end_of(chain: Chain) -> str:
    """Describe how a chain ends: what its last task waited for or did."""
    return _ENDS.get(chain.end, chain.end)
