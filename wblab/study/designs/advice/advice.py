"""An advice: the site, its twin, and the remedies that are tried."""

from dataclasses import dataclass, field

from wblab.core.errors import InputError
from wblab.study.designs.advice.plan import Candidate, Option
from wblab.study.designs.advice.remedies import NOW
from wblab.study.designs.advice.site import Site


@dataclass(frozen=True, kw_only=True)
class Advice:
    """made: the date and time. factor: the twin's scale factor. rates: measured rates of the disk, in bytes/s.

    live: the live run's directory. about: the machine and its twin, one line each. notes: reasons for doubt.
    candidates: the remedies tried. pairs: possible pairs of the second round; the study's plan has the chosen ones.
    left_out: why other remedies were not tried. before: each setting's value before, by the file that shows it.
    """

    made: str
    site: Site
    factor: int
    rates: tuple[int, ...] = field(default=())
    live: str = ""
    about: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    candidates: tuple[Candidate, ...]
    pairs: tuple[Option, ...] = field(default=())
    left_out: dict[str, str]
    before: dict[str, str]

    def candidate(self, name: str) -> Candidate:
        """Return the candidate of this name. Raises InputError."""
        known = [item.name for item in self.candidates if item.name != NOW]
        for item in self.candidates:
            if item.name == name != NOW:
                return item
        why = f": {self.left_out[name]}" if name in self.left_out else ""
        raise InputError(f"no remedy {name!r} was tried{why}: give one of {', '.join(known)}")
