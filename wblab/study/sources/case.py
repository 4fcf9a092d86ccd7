"""A case: a run that claims need."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A preset with some keys changed.

    events: traced in addition to the preset's. opens: trace openat, too, if the kernel can. loses: the trace may lose
    events, which would otherwise fail the run.
    """

    preset: str
    what: str
    settings: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    opens: bool = False
    loses: bool = False
