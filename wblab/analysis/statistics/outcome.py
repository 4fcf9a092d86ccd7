"""The outcomes of checking a claim, a recommendation or a model of a machine: one set of words for all of them."""

from typing import Literal, get_args

Outcome = Literal["reproduced", "not reproduced", "harms", "not decided", "not testable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
HARMS: Outcome = "harms"  # a recommendation that makes something worse
NOT_DECIDED: Outcome = "not decided"  # more seeds may decide it
NOT_TESTABLE: Outcome = "not testable"
