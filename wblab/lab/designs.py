"""The designs of studies: the ways to make many runs. Each is spelled here, and nowhere else.

The name stands in study.json. A design is a folder of `wblab/study/designs`, and a module of `wblab/commands/study`
that says what `wblab study` makes of it.
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

    noun: what a study of it is called. again: the command that resumes one, without its directory; empty where none
    does. parts: its runs may be shared out between machines (--shard) and put together again.
    """

    noun: str
    again: str = STUDY_AGAIN
    parts: bool = False


DESIGNS: Mapping[str, Design] = {
    MATRIX: Design("matrix", parts=True),
    EXPLORE: Design("exploration", parts=True),
    TRIAL: Design("trial", parts=True),
    VERIFY: Design("verification", parts=True),
    WITNESS: Design("witness"),
    FINDING: Design("finding"),
    AB: Design("comparison", again="wblab study --kernels --resume"),
    TWIN: Design("twin"),
    ATLAS: Design("atlas", again=""),
    ADVISE: Design("advice", again="wblab advise --resume"),
    BISECT: Design("bisection", again="wblab bisect --resume"),
    PROVE: Design("proof", again=""),
    AUDIT: Design("audit", again="wblab repeat STUDY --resume"),
}


def noun(design: str) -> str:
    """Return what a study of a design is called: `study` for one that this lab does not know."""
    return DESIGNS[design].noun if design in DESIGNS else "study"
