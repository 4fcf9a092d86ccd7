"""Read a study's advice file, which is not trusted: another user may own the study, and root may be asked to apply it.

Each field that ends up in a rule, a comment, a command or a path has a pattern. The file can set only known keys, to
values within limits (`settings` beside this). Its description of the site is compared with the machine
(`current_site`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.tables import from_table
from wblab.lab.formats import ADVICE, ADVICE_FILE
from wblab.lab.printable import printable
from wblab.lab.results import directory_of
from wblab.live.advise.machinesite import MachineSite, current_site
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import BEFORE, Advice
from wblab.live.advise.remedies import Remedy, joined, read_remedies
from wblab.live.advise.settings import settable
from wblab.live.changes.permitted import MOST_BYTES
from wblab.machine.block import memory_bytes
from wblab.study.store import Store

_MOST_TEXT = 1000
_MADE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}")
_REMEDY = re.compile(r"[a-z0-9][a-z0-9.+%-]{0,80}")  # a pair has both names
_CELL = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,120}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:!-]{0,63}")
_BDI = re.compile(r"|[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_KNOWN_BY = re.compile(
    r'(?:ENV\{(?:ID_SERIAL|DM_UUID|MD_UUID)\}|ATTRS?\{(?:wwid|serial)\}|KERNEL)=="[A-Za-z0-9 ._:+!-]{1,128}"'
)
_FILE = re.compile(r"|[^/\0\n]{1,255}")
_BEFORE_PATH = re.compile(r"/[A-Za-z0-9._:!/-]{1,200}")


def advice_in(store: Store) -> Advice:
    """Return a study's advice as `recorded`, with the site in its current state, unless it is of another machine.

    Raises InputError also if the disk is another one.
    """
    advice = recorded(store)
    return advice if advice.elsewhere else replace(advice, site=current_site(advice.site))


def recorded(store: Store) -> Advice:
    """Return a study's advice with the candidates tried so far.

    Raises InputError if the advice belongs to another study.
    """
    advice = read_advice(store.path)
    cells = {cell.name for cell in store.plan.cells}
    second = (option.candidate for option in advice.pairs if option.candidate.cell in cells)
    tried = (*advice.candidates, *second)
    if cells != {cell for item in tried for cell in item.cells}:
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


def check_advice(advice: Advice) -> None:
    """Raise InputError for the first field that the lab cannot have written."""
    for name, value, pattern in _patterned(advice):
        if not pattern.fullmatch(value):
            raise InputError(f"{name}: {_short(value)}: make a new study with wblab advise --dir DIR")
    memory = MOST_BYTES if advice.elsewhere else memory_bytes()  # that of another machine is nowhere
    for candidate in _candidates(advice):
        if len(candidate.about) > _MOST_TEXT or not candidate.about.isprintable():
            raise InputError(f"candidates.about: {_short(candidate.about)} is not one line of text")
        for item in candidate.wanted:
            if not item.is_allowed(memory):
                raise InputError(f"candidates.wanted: no remedy sets {_short(f'{item.where} {item}')}")
        if len({(item.where, item.key) for item in candidate.wanted}) < len(candidate.wanted):
            raise InputError(f"candidates.wanted: {candidate.name!r} sets the same key twice")
    if set(advice.site.known_by) != {*advice.site.disks, advice.site.device}:
        raise InputError("site.known_by: its devices are not those of the site")


def check_remedy(candidate: Candidate) -> None:
    """Raise InputError if a candidate sets more than the lab's remedy of that name: users trust the name."""
    settings = settable(_remedy(candidate.name))
    for item in candidate.wanted:
        if settings.get((item.where, item.key)) not in ("", item.value):
            raise InputError(f"the study's file is damaged: the lab's remedy {candidate.name!r} does not set {item}")


def _remedy(name: str) -> Remedy:
    """Return the lab's remedy, or pair of remedies, with this name. Raises InputError for an unknown name."""
    known = read_remedies()
    if name in known:
        return known[name]
    for at, letter in enumerate(name):
        one, other = known.get(name[:at]), known.get(name[at + 1 :])
        if letter == "+" and one and other and (both := joined(one, other)):
            return both
    raise InputError(f"this lab has no remedy {name!r}: make a new study with wblab advise --dir DIR")


def _candidates(advice: Advice) -> Iterator[Candidate]:
    yield from advice.candidates
    yield from (option.candidate for option in advice.pairs)


def _patterned(advice: Advice) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield each field that has a pattern: its name, its value and the pattern."""
    yield "made", advice.made, _MADE
    yield "elsewhere", advice.elsewhere, _FILE
    yield from _of_site(advice.site)
    for candidate in _candidates(advice):
        yield "candidates.name", candidate.name, _REMEDY
        for cell in candidate.cells:
            yield "candidates.cell", cell, _CELL
    yield from _of_table("before", advice.before, _BEFORE_PATH, BEFORE)


def _of_site(site: MachineSite) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    yield "site.filesystem", site.filesystem, _WORD
    yield "site.bdi", site.bdi, _BDI
    for device in (site.device, *site.disks):
        yield "site.disks", device, _DEVICE
    yield from _of_table("site.known_by", site.known_by, _DEVICE, _KNOWN_BY)
    for word in (*site.schedulers, *site.controllers):
        yield "site.schedulers, site.controllers", word, _WORD


def _of_table(
    name: str, table: Mapping[str, str], key: re.Pattern[str], value: re.Pattern[str]
) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    for one, other in table.items():
        yield name, one, key
        yield f"{name}.{one}", other, value


def _short(text: str) -> str:
    shown = printable(repr(text))
    return shown if len(shown) <= 80 else f"{shown[:80]}…"
