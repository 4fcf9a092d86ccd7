"""What a case is: a run that claims need."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A preset, with some keys changed.

    events: traced besides the preset's. opens: also openat, which a run leaves out where the kernel cannot.
    loses: its trace may lose events, which else fails a run.
    """

    preset: str
    what: str
    settings: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    opens: bool = False
    loses: bool = False
