"""wblab twin: a live run once more in a guest, or a guess at what this machine would do."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError
from wblab.lab.printable import printable
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.data.run import Run
    from wblab.twin.machine import Machine
    from wblab.twin.match import Match
    from wblab.twin.scale import Twin

_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    twin = verbs.add_parser(
        "twin",
        help="repeat a live run in a guest",
        description="Make a guest that is a live run's machine, scaled down: memory, thresholds, the disk's rate and "
        "what was written are divided by one factor, times stay. Run it in virtual time, with several seeds, and say "
        "whether the pauses are the same. Without a live run: what would a program that writes fast do here?",
    )
    twin.add_argument(
        "run_name", nargs="?", metavar="RUN", help="a run of live_experiment.py: a path, a name or latest"
    )
    twin.add_argument(
        "--from-host", type=Path, metavar="DIR", help="make it from this machine, whose disk below DIR is measured"
    )
    twin.add_argument("--seeds", type=int, default=5, metavar="N", help="runs of the twin (default: 5)")
    twin.add_argument("--kernel", default="", metavar="SERIES|PATH", help="the guest's (wblab kernel list)")
    twin.add_argument("--exp", type=Path, metavar="DIR", help="where runs are (default: exp/ of the lab)")
    twin.add_argument("--json", action="store_true", help="print JSON")
    twin.set_defaults(run=_twin)


def _twin(arguments: argparse.Namespace) -> None:
    from wblab.core.check import check_spec
    from wblab.data.run import find_run, read_run
    from wblab.lab.specfile import RESULTS
    from wblab.twin.machine import machine_of, this_machine
    from wblab.twin.match import matches
    from wblab.twin.scale import twin_of

    results: Path = arguments.exp or RESULTS
    if (arguments.run_name is None) == (arguments.from_host is None):
        raise InputError("give a live run, or --from-host and a directory on the disk: one of the two")
    if arguments.seeds < 1:
        raise InputError("--seeds must be at least 1")
    live = read_run(find_run(arguments.run_name, results)) if arguments.run_name else None
    machine = machine_of(live) if live else this_machine(arguments.from_host)
    twin = twin_of(machine, "twin")
    check_spec(twin.spec)
    runs = _runs(twin, arguments.kernel, arguments.seeds, results)
    found = matches(live, runs)
    for note in twin.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    if arguments.json:
        print(json.dumps(_json(machine, twin, live, runs, found), indent=2))
    else:
        print("\n".join(map(printable, [*_about(machine, twin), ""])))
        _table(found, live is not None).show()
        print("\n".join(map(printable, ["", *(str(run.path) for run in runs)])))


def _runs(twin: "Twin", kernel_name: str, seeds: int, results: Path) -> "list[Run]":
    from dataclasses import replace

    from wblab.data.run import read_run
    from wblab.host.check import check_kernel, check_run
    from wblab.host.machine import processors
    from wblab.host.pool import side_by_side
    from wblab.host.run import run_experiment
    from wblab.kernels import built_kernel, full_name
    from wblab.lab.progress import Report, bar

    spec = replace(twin.spec, kernel=full_name(kernel_name))
    check_run(spec)
    kernel = built_kernel(kernel_name, given=[kernel_name])
    check_kernel(spec, kernel)

    def one(seed: int, report: Report) -> "Run":
        return read_run(run_experiment(replace(spec, seed=seed), kernel, results, report=report).directory)

    with bar(spec.name) as report:
        return side_by_side(range(1, seeds + 1), one, processors(), report)


def _about(machine: "Machine", twin: "Twin") -> list[str]:
    mib = 1 << 20
    disk = twin.spec.disk
    return [
        f"machine: {machine.memory_bytes / mib:.0f} MiB of memory, thresholds {machine.background_bytes / mib:.0f} and "
        f"{machine.dirty_bytes / mib:.0f} MiB, disk {machine.write_bps / mib:.1f} MiB/s, {machine.filesystem}, "
        f"{machine.scheduler or 'no scheduler'}; flush time {machine.flush_s:.2f} s",
        f"twin: 1/{twin.factor:.1f} of it: {twin.spec.memory / mib:.0f} MiB of memory, "
        f"disk {disk.write_bps / mib:.2f} MiB/s, {disk.filesystem}, {disk.scheduler}",
    ]


def _table(found: "list[Match]", has_live: bool) -> Table:
    heads = ("load", "figure", *(["live"] if has_live else []), "twin (least to most)", "verdict" if has_live else "")
    rows = []
    for item in found:
        live = [] if item.live is None else [_number(item.metric, item.live)]
        spread = f"{_number(item.metric, min(item.twin))} to {_number(item.metric, max(item.twin))}"
        rows.append(
            (item.load, _SHOWN[item.metric], *live, f"{_number(item.metric, item.middle)} ({spread})", item.verdict)
        )
    return Table(rows, heads)


def _number(metric: str, value: float) -> str:
    return f"{value:.1%}" if metric == "paused_fraction" else f"{value:.2f} s"


def _json(
    machine: "Machine", twin: "Twin", live: "Run | None", runs: "list[Run]", found: "list[Match]"
) -> dict[str, Any]:
    from wblab.core.tables import to_table

    return {
        "live": str(live.path) if live else None,
        "machine": to_table(machine) | {"flush_s": machine.flush_s},
        "factor": twin.factor,
        "notes": list(twin.notes),
        "runs": [str(run.path) for run in runs],
        "matches": [
            {
                "load": item.load,
                "metric": item.metric,
                "live": item.live,
                "twin": list(item.twin),
                "verdict": item.verdict or None,
            }
            for item in found
        ],
    }
