"""Build the kernels that are compared, make runs until the differences are decided, and write the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wblab.analysis.groups.resultlist import study_named
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.host.check import check_run
from wblab.kernels import Kernel, KernelResolver, built_kernels
from wblab.lab.designs import designs
from wblab.lab.formats import write_json
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.page import write, write_page
from wblab.report.report import Report
from wblab.report.text import lines
from wblab.study.asked import Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun, check_kernels
from wblab.study.decided import run_until_decided
from wblab.study.designs.ab import NAME
from wblab.study.designs.ab.made import build_all, check_differ, check_unequal, question
from wblab.study.designs.ab.plan import STANDARD, asked_of, described, pairs, plan
from wblab.study.designs.ab.plan import asked as asked_for
from wblab.study.designs.ab.report import report
from wblab.study.designs.ab.result import KernelsResult, result
from wblab.study.designs.ab.sides import Side, cached, sides, steps
from wblab.study.run import run_store
from wblab.study.store import Store

_MOST = 34  # seeds of a kernel and spec
_OPTIONS = ("kernels", "tree", "base", "spec", "settings", "seeds", "each")  # of a new comparison, kept by --resume
_AGAIN = designs()[NAME].again


@dataclass(frozen=True, kw_only=True)
class KernelsRequest(StudyRequest):
    """What a comparison is asked for.

    kernels: two, or a range of commits. tree: the repository of commits; None: this directory. base: what patches are
    applied to; empty: the other one. spec: what to run; none: the standard ones. each: compare each patch or commit
    with the state before it.
    """

    kernels: tuple[str, ...] = ()
    tree: Path | None = None
    base: str | None = None
    spec: tuple[str, ...] = ()
    each: bool = False


def make(asked: KernelsRequest) -> StudyAnswer:
    """Compare two kernels, or resume that. Raises WblabError."""
    planned, resolve = _resumed(asked) if asked.resume else _new(asked)
    with begun(asked, resolve, planned, _AGAIN) as (store, _):
        asks = question(store, pairs(store.plan, asked_of(store.plan)))
        tally = run_until_decided(store, asks, partial(run_store, store, None, asked.jobs), asked.note)
        found = page = None
        if not tally.failures or any(store.runs.glob("[!_.]*")):
            found = _pictured(result(store, resolve, len(tally.failures)), store)
            page = _written(store, found)
    failures = Failures.of(store, tally, _AGAIN)
    if not found:
        return StudyAnswer(store.path, failures=failures)
    about = {"directory": str(store.path), "page": str(page)}
    return StudyAnswer(store.path, found, (str(page),), about, failures=failures)


def report_of(store: Store) -> Report:
    """Return the report of a comparison that was made. It boots nothing. Raises InputError without runs."""
    return _pictured(result(store, None), store)


def _pictured(found: KernelsResult, store: Store) -> Report:
    """Return the report with pictures of both kernels' runs, first of the specs whose figures differ."""
    from wblab.study.pictured import with_pictures  # making runs needs no Matplotlib, which takes a while to load

    claimed = [item.pair for item in found.figures.claimed] or [item.pair for item in found.figures.rows]
    return with_pictures(report(found), store, [cell.name for pair in claimed for cell in (pair.before, pair.after)])


def built(asked: KernelsRequest) -> list[tuple[Side, Kernel]]:
    """Build what is to be compared; return each state with its kernel. Raises InputError."""
    states = _states(asked)
    kernels = build_all(states, asked.note)
    check_differ(states, kernels)
    return list(zip(states, kernels, strict=True))


def _states(asked: KernelsRequest) -> Sequence[Side]:
    """Return what is to be built. Raises InputError."""
    if asked.kernel:
        raise InputError("--kernel is for --resume: name a new comparison's kernels without it")
    if not 1 <= len(asked.kernels) <= 2:
        raise InputError("give two kernels, or a range of commits: see wblab study --kernels --help")
    ends = sides(asked.kernels, asked.tree or Path(), asked.base or "")
    check_unequal(*ends)
    return steps(*ends) if asked.each else ends


def _new(asked: KernelsRequest) -> tuple[Planned, KernelResolver]:
    """Build the kernels, and plan the comparison."""
    specs = _specs(asked)
    states, kernels = zip(*built(asked), strict=True)
    compared = asked_for(states, kernels, _command(asked))
    resolve = built_kernels(*(state.kernel for state in compared.states))
    return Planned(plan(compared, specs, asked.seeds or _MOST), described(compared, kernels)), resolve


def _specs(asked: KernelsRequest) -> Sequence[Spec]:
    specs = [read_spec(SPECS.find(name), asked.settings) for name in asked.spec or STANDARD]
    for spec in specs:
        check_run(spec)
    return specs


def _command(asked: KernelsRequest) -> list[str]:
    """Return the command that repeats the comparison, without options that have their defaults."""
    words = ["wblab", "study", "--kernels", *asked.kernels]
    for option, values in (("--spec", asked.spec), ("--set", asked.settings)):
        for value in values:
            words += [option, value]
    for name, given in (("tree", asked.tree), ("base", asked.base), ("seeds", asked.seeds)):
        if given is not None:
            words += [f"--{name}", str(given)]
    return [*words, *(["--each"] if asked.each else [])]


def _resumed(asked: KernelsRequest) -> tuple[Planned, KernelResolver]:
    assert asked.resume
    if changed := [name for name in _OPTIONS if getattr(asked, name)]:
        raise InputError(f"--resume keeps the kernels and options of the first call: leave --{changed[0]} out")
    store = Store.open(study_named(asked.resume, asked.results, NAME), NAME)
    own = [name for name in store.kernels if "/" in name and cached(name)]
    resolve = built_kernels(*asked.kernel, *own)
    check_kernels(store, resolve)
    return Planned(store.plan, store.kernels, store), resolve


def _written(store: Store, found: Report) -> Path:
    """Write the report into the study's directory; return the page."""
    try:
        write_json(store.path / "ab.json", found.to_json())
    except OSError as error:
        raise WblabError(f"cannot write the report in {store.path}: {error.strerror or error}") from None
    write_page(store.path / "ab.txt", "\n".join([*lines(found), ""]))
    return write(found, store.path / "ab.html")
