"""The answer of an exploration: what a response depends on, where its worst tenth is, and where it is best."""

from collections.abc import Iterator

from wblab.analysis.sensitivity.analysis import Analysis, Finding
from wblab.analysis.sensitivity.anova import Effect
from wblab.analysis.sensitivity.observed import Observed
from wblab.lab.printable import printable
from wblab.report.enumeration import enumerated
from wblab.report.explorationtext import SCALES, beyond_sentences, conditions, headline
from wblab.report.quantities import percent, quantity

_MOST = 3  # factors in a sentence; the evidence has all


def answers(analysis: Analysis, observed: Observed) -> Iterator[str]:
    """Yield the lines of the answer, for each response its values in a line and then what they depend on."""
    for finding in analysis.findings:
        yield headline(finding, observed)
        yield from (f"  {sentence}" for sentence in (*answer(finding), *finding.notes))
        yield ""


def answer(finding: Finding) -> list[str]:
    """Return at most four sentences: limits, what the response depends on, its worst tenth, and its best region."""
    if not finding.views:
        return []
    return [*beyond_sentences(finding), _depends(finding), *_worst(finding), *_best(finding)]


def _depends(finding: Finding) -> str:
    """Return the effects that explain most of the variance in the first view."""
    first = finding.views[0]
    effects = (*first.variance.mains, *first.variance.pairs)
    found = sorted((effect for effect in effects if effect.found), key=lambda effect: effect.share, reverse=True)
    if not found:
        return "It is not shown to depend on any factor. More rows may show one."
    strongest, *others = found[:_MOST]
    whole = "its variance" if first.scale == "raw" else f"the variance of {SCALES[first.scale]}"
    named = enumerated(
        [
            f"{_name(strongest)} ({percent(strongest.share)} of {whole})",
            *(f"{_name(effect)} ({percent(effect.share)})" for effect in others),
        ]
    )
    rest = len(found) - _MOST
    more = f"; {rest} more {'effect is' if rest == 1 else 'effects are'} smaller" if rest > 0 else ""
    return f"It depends most on {named}{more}."


def _name(effect: Effect) -> str:
    return printable(" together with ".join(effect.factors))


def _worst(finding: Finding) -> list[str]:
    """Return the level of each factor that is most often in the worst tenth, for the strongest factors."""
    tail = finding.tail
    if tail is None:
        return []
    ranked = sorted((level for level in tail.levels if level.leads > 0), key=lambda level: level.share)
    strongest = {level.factor: level for level in ranked}  # of each factor, the last one in the order of shares
    named = [
        f"{percent(level.share)} of the rows with {printable(f'{level.factor} = {level.level}')}"
        for level in sorted(strongest.values(), key=lambda level: level.share, reverse=True)[:_MOST]
    ]
    return [f"In the worst tenth are {enumerated(named)}; of all rows {percent(tail.share)}."] if named else []


def _best(finding: Finding) -> list[str]:
    """Return the best region if the rows that test it agree: where the worst tenth starts there and in all rows."""
    region = finding.region
    if region is None:
        return []
    inside, everywhere = region.inside[0].p90, region.everywhere[0].p90
    if (inside <= everywhere) if finding.more_is_better else (inside >= everywhere):
        return []
    there, anywhere = quantity(inside, finding.unit), quantity(everywhere, finding.unit)
    return [
        f"Best where {conditions(region)}: worst tenth from {there} there, from {anywhere} in all rows "
        f"(tested on {region.rows} rows)."
    ]
