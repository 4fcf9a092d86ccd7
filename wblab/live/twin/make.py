"""Plan the twin of a live run, or of this machine, and compare its pauses. See `scale` for how it is made."""

from pathlib import Path

from wblab.analysis.runs.run import find_run, read_run
from wblab.core.errors import InputError
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.disks import read_disk
from wblab.live.runs.request import INNOCENT
from wblab.live.twin import NAME
from wblab.live.twin.described import machine_of, this_machine, with_disk
from wblab.live.twin.elsewhere import Elsewhere, notes_on
from wblab.live.twin.result import report, result_of
from wblab.live.twin.scale import plan_of, read_study, twin_study
from wblab.report.report import Report
from wblab.study.asked import HERE, Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun
from wblab.study.run import run_store
from wblab.study.store import Store

_SEEDS = 5


def make(asked: StudyRequest) -> StudyAnswer:
    """Repeat a live run, with several seeds in virtual time, and compare the pauses; or resume that."""
    resolve = built_kernels(asked.one_kernel)
    with begun(asked, resolve, _planned(asked, resolve)) as (store, _):
        tally = run_store(store, None, asked.jobs)
    if tally.failures:
        return StudyAnswer(store.path, failures=Failures.of(store, tally))
    return StudyAnswer(store.path, report(result_of(store), store.path), (store.path,))


def report_of(store: Store) -> Report:
    """Return the report of a twin that was made. Raises InputError."""
    return report(result_of(store), store.path)


def _planned(asked: StudyRequest, resolve: KernelResolver) -> Planned:
    """Plan a twin's runs, or open the study to resume. Raises InputError."""
    if asked.resume:
        return Planned.again(asked, NAME, resolve, read_study)  # a damaged study is refused before its runs start
    disk = read_disk(asked.disk) if asked.disk else None
    file, live, there = Path(asked.what), None, None
    if asked.parts and not file.is_file():
        raise InputError(f"{asked.parts[0]}: a directory is for another machine's facts, and {asked.what} is none")
    if asked.what.startswith(HERE):
        machine = this_machine(Path(asked.what.removeprefix(HERE)), disk)
    elif file.is_file():
        there = Elsewhere.read(file, " ".join(asked.parts))
        machine = there.machine(INNOCENT, disk)
    else:
        live = read_run(find_run(asked.what, asked.results))
        machine = machine_of(live)
    if live and disk:
        machine = with_disk(machine, disk)
    study = twin_study(machine, live.path if live else None, notes_on(asked.disk, there))
    plan = plan_of(study, asked.seeds or _SEEDS, full_name(asked.one_kernel))
    return Planned.new(plan, resolve)
