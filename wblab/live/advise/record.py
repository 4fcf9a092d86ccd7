"""The advice file of a study: everything needed to report and apply the result once the runs are finished."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.tables import from_table, to_table
from wblab.lab.formats import ADVICE, ADVICE_FILE, now
from wblab.lab.results import directory_of
from wblab.live.advise.allowed import check_advice
from wblab.live.advise.here import paths, shown_by
from wblab.live.advise.machinesite import MachineSite, current_site
from wblab.live.advise.plan import Candidate, Option, PlannedAdvice
from wblab.live.advise.remedies import NOW
from wblab.study.store import Store

# An advice: the site, its twin, and the remedies that are tried.


@dataclass(frozen=True, kw_only=True)
class Advice:
    """made: the date and time. factor: the twin's scale factor. rates: measured rates of the disk, in bytes/s.

    live: the live run's directory. about: the machine and its twin, one line each. notes: reasons for doubt.
    candidates: the remedies tried. pairs: possible pairs of the second round; the study's plan has the chosen ones.
    left_out: why other remedies were not tried. before: each setting's value before, by the file that shows it.
    """

    made: str
    site: MachineSite
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


def advice_of(planned: PlannedAdvice, site: MachineSite, about: Mapping[str, object]) -> Advice:
    """Return the advice to store for a plan. about: the fields of Advice that are not in the plan."""
    return Advice(
        made=now(),
        site=site,
        factor=planned.factor,
        candidates=planned.candidates,
        pairs=planned.pairs,
        left_out=dict(planned.left_out),
        before=_before(planned, site),
        **about,  # type: ignore[arg-type]
    )


def packed(advice: Advice) -> dict[str, bytes]:
    """Return the advice file's content, by its name."""
    content = ADVICE.head() | to_table(advice)
    return {ADVICE_FILE: (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()}


def advice_in(store: Store) -> Advice:
    """Return a study's advice as `recorded`, with the site in its current state.

    Raises InputError also if the disk is another one.
    """
    advice = recorded(store)
    return replace(advice, site=current_site(advice.site))


def recorded(store: Store) -> Advice:
    """Return a study's advice with the candidates tried so far.

    Raises InputError if the advice belongs to another study.
    """
    advice = read_advice(store.path)
    cells = {cell.name for cell in store.plan.cells}
    second = (option.candidate for option in advice.pairs if option.candidate.cell in cells)
    tried = (*advice.candidates, *second)
    if cells != {item.cell for item in tried}:
        raise InputError(f"{store.path / ADVICE_FILE} belongs to another study: was it copied there?")
    return replace(advice, candidates=tried)


def read_advice(directory: Path) -> Advice:
    """Return the advice in a directory as it was first stored. Raises InputError if it is missing or damaged."""
    content = ADVICE.read(directory / ADVICE_FILE)
    table = {key: value for key, value in content.items() if key not in ("format", "kind")}
    try:
        advice = from_table(Advice, table, exact=True)
        check_advice(advice)
        return advice
    except InputError as error:
        raise InputError(f"{directory / ADVICE_FILE} is damaged: {error}") from None


def latest_advice(results: Path) -> Path:
    """Return the directory of the newest advice. Raises InputError if there is none."""
    found = sorted(path.parent for path in results.glob(f"[!_.]*/{ADVICE_FILE}"))
    if not found:
        raise InputError(f"no study of wblab advise in {results}: make one with wblab advise --dir DIR")
    return found[-1]


def advice_at(given: Path | None, results: Path) -> Path:
    """Return the directory of an advice: the one that is given, from here or among the results; else the newest.

    Raises InputError if there is none.
    """
    if given is None or str(given) == "latest":
        return latest_advice(results)
    return directory_of(given, results)


def _before(planned: PlannedAdvice, site: MachineSite) -> dict[str, str]:
    """Return the current value of each file that a remedy sets, by the file that shows it. Raises InputError."""
    found = {}
    both = [option.candidate for option in planned.pairs]
    wanted = {(item.where, item.key) for candidate in (*planned.candidates, *both) for item in candidate.wanted}
    for where, key in wanted:
        for path in paths(where, key, site):
            try:
                shown = shown_by(path)
                words = shown.read_text().split()
            except OSError as error:
                raise InputError(f"cannot read {path}: {error.strerror}") from None
            chosen = [word.strip("[]") for word in words if word.startswith("[")]
            found[str(shown)] = (chosen or words or [""])[0]
    return dict(sorted(found.items()))
