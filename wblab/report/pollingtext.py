"""What a program that polls may have waited for, as far as a trace shows."""

from wblab.analysis.why.parties import READ
from wblab.analysis.why.polling import Kept, Polling
from wblab.report.quantities import duration, enumerated


def looked(polling: Polling) -> str:
    """Return how a task looked for something, and what it may have waited for, as a clause of a sentence."""
    return "; ".join(_clauses(polling))


def polled(polling: Polling) -> list[str]:
    """Return the same as sentences for the detail of a pause."""
    first, *others = _clauses(polling)
    return [f"{first}.", *(f"{text[0].upper()}{text[1:]}." for text in others)]


def _clauses(polling: Polling) -> list[str]:
    if polling.is_known:
        went = enumerated([f"{_of(each)}, and then {each.did}" for each in polling.kept])
        return [f"{_slept(polling)}", f"it waited for {went}"]
    if polling.sought:
        return [
            _slept(polling),
            f"it looked for {polling.sought}, which {polling.by} without waiting long for writeback",
        ]
    unseen = "the trace does not show what it looked for"
    if not polling.kept:
        return [_slept(polling), f"{unseen}, and no task that had waited for writeback went on before its last look"]
    went = enumerated([_of(each) for each in polling.kept])
    return [_slept(polling), unseen, f"it may have waited for {went}, and went on before its last look"]


def _slept(polling: Polling) -> str:
    how = "slept" if polling.is_asleep else "slept or waited with a timeout"
    if polling.times == 0:
        return f"{polling.task} was running, and may have looked for something all the time"
    if polling.times == 1:
        return f"{polling.task} {how} once, and may have looked for something before and after"
    most = duration(polling.longest_ns)
    return f"{polling.task} {how} {polling.times} times, {most} at most, as a program that polls does"


def _of(kept: Kept) -> str:
    waited = f"{kept.name}, which had waited for writeback for {duration(kept.kept_ns)}"
    if kept.request and (first := next(iter(kept.request.ahead), "")) and first != kept.name:
        waited += f" behind data {first}" if first.startswith(READ) else f" behind data of {first}"
    return waited
