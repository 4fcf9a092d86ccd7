"""What a study is given decides its design, which makes it."""

import os
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wblab.analysis.groups.resultlist import study_named
from wblab.analysis.runs.run import find_run, read_run
from wblab.core.errors import InputError, nearest
from wblab.core.spec import Spec
from wblab.lab.callings import introduced
from wblab.lab.designs import STUDY_AGAIN, designs, names
from wblab.lab.formats import STUDY, STUDY_FILE
from wblab.lab.results import SPECS, study_at
from wblab.lab.specfile import read_toml
from wblab.lab.wings import offered
from wblab.report.report import Report
from wblab.study.asked import HERE, Parts, StudyAnswer, StudyRequest, check_options, given
from wblab.study.store import Store

_TOML = ".toml"
_ALL = "all"  # the places where a spec is run if none is named


def make(asked: StudyRequest) -> StudyAnswer:
    """Make the study that is asked for, or go on with it. Raises WblabError; what was made is kept."""
    name, asked = subject(asked)
    options = {design.noun: (*design.plan, *design.call) for design in designs().values() if design.is_of_study}
    check_options(asked, designs()[name].noun, options)
    if asked.resume and (kept := given(asked, designs()[name].plan)):
        raise InputError(f"--resume keeps the plan of the first call: leave {' and '.join(kept.values())} out")
    answer: StudyAnswer = _module(name).make(asked)
    return answer


def subject(asked: StudyRequest) -> tuple[str, StudyRequest]:
    """Return the design of what is asked for, and what that design takes.

    Raises InputError, with the nearest name, if nothing is known that is called so.
    """
    if asked.resume:
        if asked.what and not asked.update:
            raise InputError("--resume keeps the plan of the first call: leave WHAT out")
        path = study_named(asked.resume, asked.results, *_resumable())
        # The study says what it is of, so that words are the parts of a finding to update.
        parts = (*filter(None, [asked.what]), *asked.parts)
        return _of_study(path), replace(asked, what="", parts=parts, resume=path)
    if not asked.what:
        raise InputError("give what to study: wblab study --list names what there is; or --resume DIR")
    is_witness = bool(asked.on)
    if asked.on == (_ALL,):
        asked = replace(asked, on=())
    if claims := _claims((asked.what, *asked.parts)):
        return _taking("places" if is_witness else "claims"), replace(asked, parts=claims, what="")
    if is_witness:
        return _taking("places"), asked
    named = _named(asked.what)
    return (named, asked) if named else _found(asked)


def _named(given: str) -> str:
    """Return the design of what comes with the lab under the given name; empty for nothing."""
    if os.path.exists(given):
        return ""
    return next((design for design, name, _ in names() if name == given), "")


def _found(asked: StudyRequest) -> tuple[str, StudyRequest]:
    """Return the design of a study's directory, a file, a spec or a live run. Raises InputError."""
    path = Path(asked.what)
    if study := study_at(path, asked.results):
        return _of_study(study), replace(asked, what="", resume=study, is_report=True)
    if path.is_file() and path.suffix == _TOML:
        return _of_file(path), asked
    if asked.what.startswith(HERE) or has_facts(path):
        return _taking("live runs"), asked
    return (_taking("places") if SPECS.has(asked.what) or path.is_file() else _of_live(asked)), asked


def has_facts(path: Path) -> bool:
    """Whether a path is a file with the facts of another machine."""
    among = offered("whether a file has a machine's facts") if path.is_file() else None
    return bool(among and among(path))


def _taking(what: str) -> str:
    """Return the design that studies places, claims or live runs. Raises InputError where none is here."""
    found = next((name for name, design in designs().items() if what in design.takes), "")
    if not found:
        raise InputError(f"this lab has no design for {what}: take one that has all its wings")
    return found


def _resumable() -> list[str]:
    return [name for name, design in designs().items() if design.again == STUDY_AGAIN]


def _of_study(path: Path) -> str:
    """Return the design of a study, from its directory. Raises InputError for one that another verb makes."""
    name = str(STUDY.read(path / STUDY_FILE).get("design"))
    if name not in _resumable():
        again = designs()[name].again if name in designs() else ""
        raise InputError(f"{path} is no study of wblab study" + (f": {again} {path}" if again else ""))
    return name


def _of_file(path: Path) -> str:
    """Return the design of a TOML file, by the keys that it has; without any of these it is a spec."""
    table = read_toml(path, "file")
    found = next((name for name, design in designs().items() if any(key in table for key in design.keys)), "")
    return found or _taking("places")


def _of_live(asked: StudyRequest) -> str:
    """Return the design for a run's directory: a live run is repeated in a guest. Raises InputError for no run."""
    try:
        found = find_run(asked.what, asked.results)
    except InputError:
        near = nearest(asked.what, [name for _, name, _ in names()])
        raise InputError(f"nothing to study is called {asked.what!r}{near}: see wblab study --list") from None
    if isinstance(read_run(found).spec, Spec):
        raise InputError(f"{found} is a run of a guest: give a live run, or --on and a spec to compare places")
    return _taking("live runs")


def _claims(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the claims if all that is given are claims. For a path or a listed name, no claim is loaded."""
    if os.sep in given[0] or given[0].endswith(_TOML) or _named(given[0]):
        return ()
    among = offered("the claims among words")
    return given if among and set(given) <= among(given) else ()


def parts(asked: StudyRequest) -> Parts:
    """Return the claims of a work, or the recommendations. Raises InputError for what has no parts."""
    name, asked = subject(asked)
    found = getattr(_module(name), "parts", None)
    if not found:
        raise InputError("--list names the parts of a work's claims or of recommendations: leave WHAT out")
    listed: Parts = found(asked)
    return listed


def report_of(store: Store) -> Report:
    """Return the report of a study, made anew from its runs. Raises InputError where its design or runs have none."""
    design = store.plan.design
    known = design in designs() and find_spec(f"{designs()[design].package}.make")
    make_report = getattr(_module(design), "report_of", None) if known else None
    if not make_report:
        raise InputError(f"a study of wblab {design} has no report here: its cells are below")
    return plainly(make_report(store), store)


def plainly(report: Report, store: Store) -> Report:
    """Return a study's report with what its loads are called in its headline."""
    if not isinstance(report.headline, str) or not store.plan.cells:
        return report
    loads = store.plan.cells[0].spec.load
    return replace(report, headline=introduced(report.headline, {name: load.kind for name, load in loads.items()}))


def _module(design: str) -> Any:
    return import_module(f"{designs()[design].package}.make")
