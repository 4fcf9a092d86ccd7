"""The first sentence of `wblab why` on a random experiment, and whether trials on the run agree with it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import read_run
from wblab.analysis.why.explanations import explanations
from wblab.core.spec import Spec
from wblab.host.process.limits import Limits
from wblab.host.recorded import RunFailedError
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import KernelResolver
from wblab.lab.specfile import spec_of
from wblab.report.quantities import duration
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.study.designs.prove.search import Without
from wblab.study.designs.prove.tried import Terms, try_on_run

from .randomspecs import table

_LIMITS = Limits(wall_s=600, silence_s=300)
_LONGEST_S = 600


@dataclass(frozen=True)
class TriedSentence:
    """finding: as `Search.finding`; "no pause", "no run" if that failed, "not tried" if trials cannot be made.

    says: the sentence, or why there is none. trials: whom they left out, and what was left of the pause.
    """

    name: str
    finding: str
    says: str = ""
    named: Sequence[str] = ()
    culprits: Sequence[str] = ()
    trials: Sequence[str] = ()


def tried_random(number: int, resolve: KernelResolver) -> TriedSentence:
    """Make the random experiment of a number, and try its first sentence. Leaves nothing behind."""
    return tried_sentence(str(number), spec_of(table(number), exact=False), resolve)


def tried_sentence(name: str, spec: Spec, resolve: KernelResolver) -> TriedSentence:
    """Make a run of a spec, and try its first sentence. Leaves nothing behind."""
    with TemporaryDirectory() as place:
        try:
            made = run_experiment(ready(spec, resolve), Path(place, "exp"), limits=_LIMITS)
        except RunFailedError as error:
            return TriedSentence(name, "no run", str(error))
        run = read_run(made.directory)
        found = groups([item.explanation for item in explanations(run, "", DEFAULT_BOUND_NS)])
        if not found:
            return TriedSentence(name, "no pause")
        says = sentence(found[0])
        terms = Terms(Path(place, "tried"), resolve, time.monotonic() + _LONGEST_S, DEFAULT_BOUND_NS)
        tried = try_on_run(run, found[0], terms, is_brief=True)
        if tried.search is None:
            return TriedSentence(name, "not tried", f"{says} ({tried.why_not})")
        search = tried.search
        trials = [
            f"{', '.join(item.names)}: {effect.failure or duration(effect.pause_ns)}"
            for item, effect in search.effects.items()
            if isinstance(item, Without)
        ]
        return TriedSentence(name, search.finding, says, search.question.named, search.culprits, trials)
