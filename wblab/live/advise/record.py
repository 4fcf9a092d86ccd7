"""The advice of a study: everything needed to report and apply the result once the runs are finished."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.tables import to_table
from wblab.lab.formats import ADVICE, ADVICE_FILE, now
from wblab.live.advise.machinesite import MachineSite
from wblab.live.advise.plan import Candidate, Option, PlannedAdvice
from wblab.live.advise.remedies import NOW
from wblab.live.advise.settings import paths
from wblab.live.changes.permitted import counterpart
from wblab.live.changes.setting import shown_by
from wblab.live.twin.elsewhere import Elsewhere

BEFORE = re.compile(r"-?[0-9]{1,19}|[a-z][a-z-]{0,31}")  # what a setting that is changed may have been

# An advice: the site, its twin, and the remedies that are tried.


@dataclass(frozen=True, kw_only=True)
class Advice:
    """made: the date and time. factor: the twin's scale factor. rates: measured rates of the disk, in bytes/s.

    live: the live run's directory. elsewhere: the file with the facts of the machine, if it is another one. about: the
    machine and its twin, one line each. notes: reasons for doubt. candidates: the remedies tried. pairs: possible pairs
    of the second round; the study's plan has the chosen ones. left_out: why other remedies were not tried. before: each
    setting's value before, by the file that shows it.
    """

    made: str
    site: MachineSite
    factor: int
    rates: tuple[int, ...] = field(default=())
    live: str = ""
    elsewhere: str = ""
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


def advice_of(
    planned: PlannedAdvice, site: MachineSite, about: Mapping[str, object], there: Elsewhere | None = None
) -> Advice:
    """Return the advice to store for a plan. about: the fields of Advice that are not in the plan.

    there: the machine, if it is another one.
    """
    return Advice(
        made=now(),
        site=site,
        factor=planned.factor,
        candidates=planned.candidates,
        pairs=planned.pairs,
        left_out=dict(planned.left_out),
        elsewhere=there.name if there else "",
        before=_before(planned, site, there),
        **about,  # type: ignore[arg-type]
    )


def packed(advice: Advice) -> dict[str, bytes]:
    """Return the advice file's content, by its name."""
    content = ADVICE.head() | to_table(advice)
    return {ADVICE_FILE: (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()}


def _before(planned: PlannedAdvice, site: MachineSite, there: Elsewhere | None) -> dict[str, str]:
    """Return the current value of each file that a remedy sets, by the file that shows it. Raises InputError.

    Of another machine, the values that its facts have.
    """
    found = {}
    both = [option.candidate for option in planned.pairs]
    wanted = {(item.where, item.key) for candidate in (*planned.candidates, *both) for item in candidate.wanted}
    for where, key in wanted:
        for path in paths(where, key, site):
            shown, text = _there(path, there) if there else _here(path)
            words = text.split()
            value = next((word.strip("[]") for word in words if word.startswith("[")), (words or [""])[0])
            if not there or BEFORE.fullmatch(value):
                found[str(shown)] = value
    return dict(sorted(found.items()))


def _here(path: Path) -> tuple[Path, str]:
    """Return the file that shows a setting of this machine, and what is in it. Raises InputError."""
    try:
        shown = shown_by(path)
        return shown, shown.read_text()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _there(path: Path, there: Elsewhere) -> tuple[Path, str]:
    """Return the file that shows a setting of another machine, and what is in it; empty if its facts lack it."""
    other = counterpart(path)
    shown = other if other and there.said(str(path)) == "0" else path
    return shown, there.said(str(shown))
