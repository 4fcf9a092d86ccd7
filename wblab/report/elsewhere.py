"""What was tried outside of User Mode Linux with settings of a kind, for those who are about to set something."""

from collections.abc import Iterable

from wblab.lab.wings import offered

OUTSIDE = "Tried outside of User Mode Linux"
NOTHING = "Nothing of this kind was tried outside of User Mode Linux."


def tried_outside(keys: Iterable[str]) -> list[str]:
    """Return what stock kernels did with settings of these kinds, such as nr_requests; empty without that wing."""
    tried = offered("what was tried elsewhere")
    return list(tried(keys)) if tried else []


def confirmed(keys: Iterable[str]) -> list[str]:
    """Return the same as lines, or that nothing was tried."""
    found = tried_outside(keys)
    return [f"{OUTSIDE}:", *(f"- {said}" for said in found)] if found else [NOTHING]
