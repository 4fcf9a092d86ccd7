"""What an advice begins with: this machine, the loads that it is asked about, the remedies; all of it before a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.advise.here import THOSE, as_set, machine_here
from wblab.advise.measure import measure
from wblab.advise.plan import Planned, plan
from wblab.advise.record import Advice, advice_of
from wblab.advise.remedies import read_remedies
from wblab.advise.site import Site
from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.core.loads.files import OnFile
from wblab.core.spec import Disk
from wblab.data.run import Run, find_run, read_run
from wblab.lab.disks import doubts, read_disk
from wblab.lab.formats import LIVE, RUN
from wblab.lab.named import SPECS
from wblab.lab.progress import Report
from wblab.lab.specfile import is_record, read_spec
from wblab.twin.machine import Machine, machine_of, with_disk
from wblab.twin.result import Result


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked. disk: the name or file of a model; empty, it is measured. like: see `likeness`; empty, `THOSE`."""

    site: Site
    disk: str = ""
    like: str = ""
    seeds: Sequence[int]
    kernel: str = ""


def begin(question: Question, results: Path, report: Report) -> tuple[Planned, Advice]:
    """Return what is to run, and what is kept of it. Measures the disk where nothing tells its rate. Raises InputError.

    results: where the runs are that a live run may be named of.
    """
    site = question.site
    remedies = read_remedies()
    live, innocent = likeness(question.like, results) if question.like else (None, THOSE)
    disk = read_disk(question.disk) if question.disk else None
    now, rates, notes = _machine(site, live, innocent, disk, report)
    notes = doubts(question.disk) if question.disk else notes
    planned = plan(now, site, remedies, question.seeds, question.kernel)
    told = Result(now, planned.twin, live, (), ()).about()
    about = {
        "rates": rates,
        "live": str(live.path.resolve()) if live else "",
        "about": (*told, f"directory: {site.directory}, on {', '.join(site.disks) or site.device}"),
        "notes": (*notes, *planned.twin.notes),
    }
    return planned, advice_of(planned, site, about)


def likeness(text: str, results: Path) -> tuple[Run | None, dict[str, Load]]:
    """Return a live run, or of a spec the loads that are no offenders. Raises InputError for what is neither."""
    try:
        path = SPECS.find(text)
    except InputError as error:
        try:
            path = find_run(text, results) / "experiment.json"
        except InputError:
            raise InputError(f"--like: {error}; or a live run") from None
    if is_record(path) and RUN.read(path)["kind"] == LIVE:
        return read_run(path.parent), {}
    spec = read_spec(path)
    loads = {name: _on_one_disk(name, load) for name, load in spec.load.items() if load.role != "offender"}
    for name, load in loads.items():
        if load.raw or load.needs_lab:
            raise InputError(f"--like {text}: the twin has no place for its load {name!r}: give a spec without it")
    if not any(load.role == "innocent" for load in loads.values()):
        raise InputError(f"--like {text}: it has no innocent load, whose pauses would count: give another spec")
    return None, loads


def _on_one_disk(name: str, load: Load) -> Load:
    """Return a load as it is on the twin's disk, where files of several disks would meet: each has its load's name."""
    return replace(load, disk="", file=name) if isinstance(load, OnFile) else replace(load, disk="")


def _machine(
    site: Site, live: Run | None, innocent: dict[str, Load], disk: Disk | None, report: Report
) -> tuple[Machine, tuple[int, ...], list[str]]:
    """Return the machine, the rates that were measured of its disk, and what makes them doubtful."""
    found = machine_of(live) if live else None  # of a run that does not say enough nothing is measured
    measured = None if disk else measure(Path(site.directory), report)
    model = measured.disk if measured else disk
    assert model is not None
    machine = as_set(with_disk(found, model), site) if found else machine_here(site, model, innocent)
    return machine, measured.rates if measured else (), measured.doubts() if measured else []
