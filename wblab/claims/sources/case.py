"""A case: a run that claims need."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A preset with some keys changed.

    events: traced in addition to the preset's. opens: trace openat, too, if the kernel can. loses: the trace may lose
    events, which would otherwise fail the run. kernel: what the kernel's name gets besides: the variants that the case
    needs, and perhaps a number of processors.
    """

    preset: str
    what: str
    settings: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    opens: bool = False
    loses: bool = False
    kernel: str = ""
