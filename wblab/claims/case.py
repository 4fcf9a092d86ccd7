"""What a case is: a run that claims need."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A preset, with some keys changed.

    events: traced besides the preset's. opens: also openat, which a run leaves out where the kernel cannot.
    most_seeds: a case that takes long has no more runs than this. loses: its trace may lose events, which fails a run;
    it is looked at all the same.
    """

    preset: str
    what: str
    settings: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    opens: bool = False
    most_seeds: int = 1000
    loses: bool = False
