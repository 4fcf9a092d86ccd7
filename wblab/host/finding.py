"""What a check of the machine found."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, whether it is good, what was found, and what to do if it is not.

    needed: by every run; else only by some verbs.
    """

    check: str
    good: bool
    found: str
    advice: str = ""
    needed: bool = True

    def to_json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return asdict(self)
