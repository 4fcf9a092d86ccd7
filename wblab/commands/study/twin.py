"""wblab study of a live run: repeat it in a scaled-down guest; or, of here:DIR, predict what this machine would do.

One factor divides memory, dirty thresholds, the disk's rate and the bytes written; times stay the same.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import one_kernel, results, tell
from wblab.commands.study.subject import HERE
from wblab.lab.designs import TWIN

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver

_SEEDS = 5


def make(arguments: argparse.Namespace) -> None:
    """Repeat a live run, with several seeds in virtual time, and compare the pauses; or resume that."""
    from wblab.commands.many import begun, check_failures, failed
    from wblab.kernels import built_kernels
    from wblab.study.designs.twin.result import report, result_of
    from wblab.study.run import run_store

    resolve = built_kernels(one_kernel(arguments))
    with begun(arguments, resolve, _planned(arguments, resolve)) as (store, _):
        tally = run_store(store, None, arguments.jobs)
    check_failures(store, failed(tally))
    tell(report(result_of(store), store.path), store.path, as_json=arguments.json)


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    """Plan a twin's runs, or open the study to resume. Raises InputError."""
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.lab.disks import read_disk
    from wblab.study.begin import described
    from wblab.study.designs.twin.machine import machine_of, this_machine, with_disk
    from wblab.study.designs.twin.scale import plan_of, read_study, twin_study

    if arguments.resume:
        return Planned.again(arguments, TWIN, resolve, read_study)  # a damaged study is refused before its runs start
    given = arguments.what
    live = None if given.startswith(HERE) else read_run(find_run(given, results(arguments)))
    disk = read_disk(arguments.disk) if arguments.disk else None
    machine = machine_of(live) if live else this_machine(Path(given.removeprefix(HERE)), disk)
    if live and disk:
        machine = with_disk(machine, disk)
    study = twin_study(machine, live.path if live else None)
    plan = plan_of(study, arguments.seeds or _SEEDS, full_name(one_kernel(arguments)))
    return Planned(plan, described(plan, resolve))
