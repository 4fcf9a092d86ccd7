"""Prepare a study of remedies: describe this machine, its loads and the remedies. Runs nothing."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.analysis.runs.run import Run, find_run, read_run
from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.core.loads.files import OnFile
from wblab.core.spec import Disk
from wblab.core.units import BytesPerSecond
from wblab.lab.disks import read_disk
from wblab.lab.formats import LIVE, RUN
from wblab.lab.printable import printable
from wblab.lab.progress import Report
from wblab.lab.results import SPECS
from wblab.lab.specfile import is_record, read_spec
from wblab.live.advise.figures import measure
from wblab.live.advise.machinesite import MachineSite, own_limit_of, queue_of
from wblab.live.advise.plan import PlannedAdvice, plan
from wblab.live.advise.record import Advice, advice_of
from wblab.live.advise.remedies import read_remedies
from wblab.live.advise.settings import paths
from wblab.live.changes.permitted import SCHEDULER
from wblab.live.runs.request import BESIDES, INNOCENT
from wblab.live.twin.described import (
    TIMES_THRESHOLD,
    WAIT_NS,
    Machine,
    largest_folio,
    machine_of,
    sustained_bps,
    with_disk,
)
from wblab.live.twin.elsewhere import Elsewhere, notes_on
from wblab.live.twin.result import TwinResult
from wblab.machine.block import dirty_settings, memory_bytes, scheduler, thresholds

# One appends, one creates files, one commits.
DEFAULT_LOADS: dict[str, Load] = INNOCENT | {"k1": BESIDES["k1"]}
_TIMERS = ("vm.dirty_expire_centisecs", "vm.dirty_writeback_centisecs")
_LIKELY = Disk(model="device", write_bps=BytesPerSecond(100 << 20))  # of no effect on what is refused


@dataclass(frozen=True, kw_only=True)
class AdviceQuestion:
    """What to advise on. there: the machine, if it is another one.

    disk: name or file of a model; empty: measure it, or, of another machine, its rate in the facts. like: see
    `loads_like`; may be empty.
    """

    site: MachineSite
    there: Elsewhere | None = None
    disk: str = ""
    like: str = ""
    seeds: Sequence[int]
    kernel: str = ""


def begin(
    question: AdviceQuestion, results: Path, report: Report, announce: Callable[[], None] = lambda: None
) -> tuple[PlannedAdvice, Advice]:
    """Return the plan and the advice to store. Measure the disk if no model is given. Raises InputError.

    results: the directory in which a live run's name is looked up. announce: called before the disk is written to; what
    can be refused is refused by then.
    """
    site, there = question.site, question.there
    remedies = read_remedies()
    live, innocent = loads_like(question.like, results) if question.like else (None, DEFAULT_LOADS)
    disk = read_disk(question.disk) if question.disk else None
    rates: tuple[int, ...] = ()
    notes: list[str] = []
    if there:
        if live:
            raise InputError(f"--like {question.like}: a live run has a machine of its own: leave --machine out")
        now = there.machine(innocent, disk)
    else:
        if disk is None:
            likely, _, _ = _machine(site, live, innocent, _LIKELY, report)
            plan(likely, site, remedies, question.seeds, question.kernel)
            announce()
        now, rates, notes = _machine(site, live, innocent, disk, report)
    known = notes_on(question.disk, there, notes)
    if there:
        named = ", ".join(site.known_by)
        known = (*known, f"the files find disks by name ({named}), which may change with a boot of that machine")
    planned = plan(now, site, remedies, question.seeds, question.kernel)
    described = TwinResult(now, planned.twin, live, (), ()).about()
    of = f", of {printable(there.name)}" if there else ""
    about = {
        "rates": rates,
        "live": str(live.path.resolve()) if live else "",
        "about": (*described, f"directory: {site.directory}, on {', '.join(site.disks) or site.device}{of}"),
        "notes": (*known, *planned.twin.notes),
    }
    return planned, advice_of(planned, site, about, there)


def loads_like(text: str, results: Path) -> tuple[Run | None, dict[str, Load]]:
    """Return the live run that a text names, or a spec's loads without its offenders. Raises InputError."""
    try:
        path = SPECS.find(text)
    except InputError as error:
        try:
            path = find_run(text, results) / "experiment.json"
        except InputError:
            raise InputError(f"--like: {error}; it may also be a live run") from None
    if is_record(path) and RUN.read(path)["kind"] == LIVE:
        return read_run(path.parent), {}
    spec = read_spec(path)
    loads = {name: _on_one_disk(name, load) for name, load in spec.load.items() if load.role != "offender"}
    for name, load in loads.items():
        if load.raw or load.needs_lab:
            raise InputError(f"--like {text}: the twin cannot run its load {name!r}: give a spec without it")
    if not any(load.role == "innocent" for load in loads.values()):
        raise InputError(f"--like {text}: it has no innocent load to measure: give another spec")
    return None, loads


def _on_one_disk(name: str, load: Load) -> Load:
    """Move a load to the twin's only disk. Its file gets the load's name, so files of several disks cannot clash."""
    return replace(load, disk="", file=name) if isinstance(load, OnFile) else replace(load, disk="")


def _machine(
    site: MachineSite, live: Run | None, innocent: dict[str, Load], disk: Disk | None, report: Report
) -> tuple[Machine, tuple[int, ...], list[str]]:
    """Return the machine, the measured rates of its disk, and reasons for doubt."""
    found = machine_of(live) if live else None  # an incomplete run is refused before the disk is measured
    measured = None if disk else measure(Path(site.directory), report)
    model = measured.disk if measured else disk
    assert model is not None
    machine = with_current_settings(with_disk(found, model), site) if found else machine_here(site, model, innocent)
    return machine, measured.rates if measured else (), measured.doubts() if measured else []


def machine_here(site: MachineSite, disk: Disk, innocent: Mapping[str, Load]) -> Machine:
    """Describe this machine, with the given model of its disk. Raises InputError."""
    limits = _thresholds()
    machine = Machine(
        memory_bytes=memory_bytes(),
        background_bytes=limits["background"],
        dirty_bytes=limits["dirty"],
        write_bps=sustained_bps(disk),
        filesystem=site.filesystem,
        scheduler="",
        offender_bytes=TIMES_THRESHOLD * limits["dirty"],
        wait_ns=WAIT_NS,
        innocent=dict(innocent),
        disk=disk,
        folio_bytes=largest_folio(site.filesystem, os.uname().release),
    )
    return with_current_settings(machine, site)


def with_current_settings(machine: Machine, site: MachineSite) -> Machine:
    """Replace a machine's settings by this machine's current ones. Raises InputError."""
    limits = _thresholds()
    try:
        settings = dirty_settings()
        names = [scheduler(path.parents[1]) for path in paths(*SCHEDULER, site)]
        return replace(
            machine,
            background_bytes=limits["background"],
            dirty_bytes=limits["dirty"],
            scheduler=",".join(dict.fromkeys(names)),
            timers={key: int(settings[key]) for key in _TIMERS if key in settings},
            queue=queue_of(site),
            own_limit=own_limit_of(site),
        )
    except (OSError, ValueError, InputError) as error:
        raise InputError(f"cannot read this machine's settings: {error}") from None


def _thresholds() -> dict[str, int]:
    """Return this machine's dirty thresholds, in bytes. Raises InputError."""
    limits = thresholds()
    if not {"background", "dirty"} <= set(limits):
        raise InputError("/proc/vmstat does not show the dirty thresholds: Linux 2.6.37 and later do")
    return limits
