"""The designs of studies: the ways to make many runs. Each is spelled here, and nowhere else.

The name stands in study.json. A design is a folder of `wblab/study/designs`, and, if `wblab study` makes it, the module
of its name in `wblab/commands/study`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MATRIX: Final = "matrix"
EXPLORE: Final = "explore"
TRIAL: Final = "trial"
VERIFY: Final = "verify"
WITNESS: Final = "witness"
FINDING: Final = "finding"
AB: Final = "ab"
TWIN: Final = "twin"
ATLAS: Final = "atlas"
ADVISE: Final = "advise"
BISECT: Final = "bisect"
PROVE: Final = "prove"
AUDIT: Final = "audit"


STUDY_AGAIN: Final = "wblab study --resume"


@dataclass(frozen=True)
class Design:
    """What is known of a design without loading it.

    noun: what a study of it is called. plan, call: the options of `wblab study` for it, beside --resume, --exp, --json
    and --jobs: those that decide its plan, which --resume keeps, and those of each call. keys: a TOML file with one of
    these is of this design. named: some come with the lab, by name. again: the command that resumes one, without its
    directory; empty where none does. parts: its runs may be shared out between machines (--shard) and put together.
    """

    noun: str
    plan: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    named: bool = False
    again: str = STUDY_AGAIN
    parts: bool = False

    @property
    def is_of_study(self) -> bool:
        """Whether `wblab study` makes it from what it is given."""
        return bool(self.plan)


_WHERE = ("kernel", "cluster")
# In the order in which names are listed and keys looked for: the last keys are of other designs' files too.
DESIGNS: Mapping[str, Design] = {
    VERIFY: Design("verification", ("parts", "seeds", "shard", "output"), ("kernel",), named=True, parts=True),
    TRIAL: Design("trial", ("parts", "seeds", "shard"), _WHERE, ("recommendation",), named=True, parts=True),
    FINDING: Design("finding", ("seeds",), ("parts", "update"), named=True),
    EXPLORE: Design(
        "exploration", ("seeds", "keep", "shard"), (*_WHERE, "evidence"), ("factors",), named=True, parts=True
    ),
    MATRIX: Design(
        "matrix",
        ("seeds", "until_decided", "keep", "shard"),
        _WHERE,
        ("axes", "base", "extends"),
        named=True,
        parts=True,
    ),
    ATLAS: Design("atlas", ("parts", "filesystem", "seeds", "kernel", "output"), named=True, again=""),
    WITNESS: Design("witness", ("parts", "settings", "seeds"), ("on",)),
    TWIN: Design("twin", ("disk", "seeds"), ("kernel",)),
    AB: Design("comparison", again="wblab study --kernels --resume"),
    ADVISE: Design("advice", again="wblab advise --resume"),
    BISECT: Design("bisection", again="wblab bisect --resume"),
    PROVE: Design("proof", again=""),
    AUDIT: Design("audit", again="wblab repeat STUDY --resume"),
}


def noun(design: str) -> str:
    """Return what a study of a design is called: `study` for one that this lab does not know."""
    return DESIGNS[design].noun if design in DESIGNS else "study"
