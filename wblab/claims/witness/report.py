"""A witness as a report: which loads are stalled alike on all substrates, and what the machine itself spoiled."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, own_machine, read_run
from wblab.claims.outside import OfStudy, Seen
from wblab.claims.sources.claim import Claim
from wblab.claims.verify.result import figure_text
from wblab.claims.witness.result import LongestPause, Spoiled, Witness, spoiled, witness
from wblab.claims.witness.substrates import AXIS, Substrate, substrate
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.units import format_bytes
from wblab.kernels import KernelResolver
from wblab.kernels.here import PLAIN, WITH_LIMITS, is_here
from wblab.lab.formats import EXPERIMENT
from wblab.report.palette import NOT_REPRODUCED, REPRODUCED, look_of
from wblab.report.quantities import quantity, size, spread
from wblab.report.report import Block, Column, Points, Report, Row, Section, Span, Table, counted
from wblab.study.cells import run_name
from wblab.study.statement import Verdict
from wblab.study.store import Store

# What this machine is as a substrate, in words: where it differs from what the spec describes.

_LITTLE = 0.1  # a share of what offenders write: with less, a disk's rate says nothing
_LIMITS = ("vm.dirty_bytes", "vm.dirty_background_bytes")


def titles(names: Sequence[str]) -> dict[str, str]:
    """Return short names for a table: directories of this machine are left out where one name remains for one place."""
    kinds = {name: name.partition(":")[0] if is_here(name) else name for name in names}
    return {name: kind if list(kinds.values()).count(kind) == 1 else name for name, kind in kinds.items()}


def differences(name: str, run: Run) -> list[str]:
    """Return what differs on a machine from the spec of a run there, a line each. name: of the substrate.

    Raises InputError for a damaged record.
    """
    try:
        return list(_differences(name, run))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{run.path / EXPERIMENT} is damaged: its 'machine' is not that of a machine") from None


def _differences(name: str, run: Run) -> Iterator[str]:
    machine, spec = own_machine(run), run.spec
    assert machine
    assert isinstance(spec, Spec)
    release, memory = run.record["kernel"]["release"], size(machine["memory_bytes"])
    yield f"Linux {release}, {memory} of memory; the spec has {format_bytes(spec.memory)}"
    for disk, place in machine["disks"].items():
        wrote = _wrote(spec, disk, machine["traffic"][disk])
        yield f"{_where(place)}{wrote}; the spec has {_meant(spec.disk[disk])}"
        if not place["has_device"]:
            yield f"{place['directory']} is on no block device: what its limits and queue are is not known"
    if machine["shared_disks"]:
        yield f"the disks are not independent: both are on {' and '.join(machine['shared_disks'])} and share its rate"
    yield from _limits(name, machine, spec)
    if ignored := list(_ignored(spec, limits_set=machine["limits_set"])):
        yield f"not set on this machine: {', '.join(ignored)}"


def _where(place: Mapping[str, Any]) -> str:
    scheduler = f", scheduler {place['scheduler']}" if place["scheduler"] else ""
    return f"{place['directory']}: {place['filesystem']} on {place['device']}{scheduler}"


def _wrote(spec: Spec, disk: str, traffic: Mapping[str, Any] | None) -> str:
    """Return how fast a disk wrote in its best second, or that it had nothing to write while memory took all."""
    offered = sum(load.written_bytes for name, load in spec.load.items() if spec.disk_of(name) == disk)
    if not traffic or not offered:
        return ""
    if traffic["written_bytes"] < offered * _LITTLE:
        return ", wrote almost nothing yet when the run ended"
    return f", wrote up to {quantity(traffic['most_written_per_s'], 'bytes/s')}"


def _meant(disk: Disk) -> str:
    return f"{disk.filesystem}, scheduler {disk.elevator}, {quantity(disk.write_bps, 'bytes/s')}"


def _limits(name: str, machine: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """Yield the dirty limits here and in the spec, and what a comparison needs."""
    wanted = ", background ".join(size(int(spec.sysctl[key])) for key in _LIMITS)
    own = ", background ".join(size(machine["own_thresholds"][key]) for key in ("dirty", "background"))
    if machine["limits_set"]:
        yield f"dirty limits: {wanted}, the spec's, only during each run; the machine's own are {own}"
        return
    yield f"dirty limits: {own}; the spec has {wanted}"
    asked = shlex.join(["--on", name.replace(PLAIN, WITH_LIMITS, 1)])
    yield f"These limits decide who stalls. To compare, set the spec's during each run, as root: {asked}"


def _ignored(spec: Spec, *, limits_set: bool) -> Iterator[str]:
    """Yield the spec's settings that this machine does not get."""
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        for part in ("queue", "bdi"):
            yield from (f"{key}.{part}.{attribute}={value}" for attribute, value in getattr(disk, part).items())
        yield from (f"{key}.{part}" for part in ("mkfs_options", "mount_options") if getattr(disk, part))
    if not limits_set:
        yield from (f"{key}={value}" for key, value in spec.sysctl.items() if key not in _LIMITS)


_NONE = "-"


@dataclass(frozen=True)
class Witnessed:
    """What a study found, and what the machine spoiled.

    on: the substrates. first: the first run on each substrate that has one. directory: of the study. again: the
    command that resumes it.
    """

    found: Witness
    noisy: Sequence[Spoiled]
    on: Sequence[Substrate]
    first: Mapping[str, Run]
    directory: Path
    again: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        shown: dict[str, Any] = {"spoiled": [each.to_json() for each in self.noisy]}
        if machines := {name: machine for name, run in self.first.items() if (machine := own_machine(run))}:
            shown["machine"] = machines
        return {"directory": str(self.directory)} | self.found.to_json() | shown


def witnessed(store: Store, resolve: KernelResolver, again: str) -> Witnessed:
    """Return what a study's finished runs show. again: the command that resumes it. Raises InputError."""
    missing = {run_name(cell, seed) for cell, seed in store.missing()}
    runs = {
        str(cell.levels[AXIS]): [
            read_run(store.runs / name) for seed in store.plan.seeds if (name := run_name(cell, seed)) not in missing
        ]
        for cell in store.plan.cells
    }
    on = [substrate(name).settled(resolve) for name in runs]
    first = {name: of[0] for name, of in runs.items() if of}
    return Witnessed(witness(runs), spoiled(store), on, first, store.path, again)


def report(result: Witnessed) -> Report:
    """Return the report: what agrees, the figures, what each substrate is, its noise, and what was spoiled by it."""
    named = titles(result.found.substrates)
    substrates = [item for each in result.on for item in _substrate(each, named[each.name], result.first)]
    return Report(
        title=f"Which loads are stalled on {', '.join(named.values())}",
        headline=answer(result.found),
        blocks=(_figures(result.found, named), Section("Where it ran", (Points(tuple(substrates)),)), *_lost(result)),
        data=result.to_json(),
    )


def answer(found: Witness) -> str:
    """Return which loads agree, differ, and are not decided."""
    said = []
    for agreement, words in (
        ("agree", "All agree on"),
        ("differ", "They differ on"),
        ("not decided", "Not decided by these seeds:"),
    ):
        if loads := [row for row in found.rows if row.agreement == agreement]:
            names = ", ".join(
                f"{row.load} ({next(figure.word for figure in row.figures if figure)})"
                if agreement == "agree"
                else row.load
                for row in loads
            )
            said.append(f"{words} {names}.")
    return " ".join(said) or "No load can be compared."


def _figures(found: Witness, named: Mapping[str, str]) -> Table:
    columns = (Column("longest pause of"), *(Column(named[name], "number") for name in found.substrates), Column(""))
    rows = [Row((row.load, *map(_figure, row.figures), row.agreement)) for row in found.rows]
    noise = (quantity(max(each), "s") if each else _NONE for each in found.noise_s)
    return Table(columns, (*rows, Row(("(control load)", *noise, ""))))


def _figure(figure: LongestPause | None) -> str:
    return spread(figure.values_s, "s") if figure else _NONE


def _substrate(on: Substrate, name: str, first: Mapping[str, Run]) -> Iterator[str]:
    """Yield what a substrate is, the queues that its disks had, and how this machine differs from the spec."""
    yield f"{name}: {on.words}"
    run = first.get(on.name)
    yield from (f"{name}: {line}" for line in (differences(on.name, run) if run and own_machine(run) else ()))
    yield from (f"{name}: {line}" for line in (queue_words(run) if run else ()))


def queue_words(run: Run) -> list[str]:
    """Return what the queues of a stock kernel's disks were, a line each. Raises InputError for a damaged record."""
    try:
        return [_queue(disk, queue) for disk, queue in (run.record.get("machine") or {}).get("queues", {}).items()]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{run.path / EXPERIMENT} is damaged: its 'machine' has queues that are none") from None


def _queue(disk: str, queue: Mapping[str, Any]) -> str:
    wbt_us = queue.get("wbt_lat_usec")
    wbt = "no WBT" if wbt_us is None else f"WBT {quantity(int(wbt_us) / 1e6, 's') if wbt_us else 'off'}"
    most = size(int(queue["nr_requests"]) * (int(queue["max_sectors_kb"]) << 10))
    requests = f"{queue['nr_requests']} requests of {queue['max_sectors_kb']} KiB ({most})"
    return f"{disk}, {queue['device']}: {requests}, scheduler {queue['scheduler']}, {wbt}"


def _lost(result: Witnessed) -> Iterator[Block]:
    """Yield what was spoiled, a point for each seed of a substrate, and what to do about what stays so."""
    if not result.noisy:
        return
    points = tuple(
        f"{each.substrate}, seed {each.seed}: {', '.join(quantity(stall_s, 's') for stall_s in each.stalls_s)}; "
        f"{'repeated' if each.is_replaced else 'not counted'}"
        for each in result.noisy
    )
    blocks: list[Block] = [Points(points)]
    if not all(each.is_replaced for each in result.noisy):
        again = f"{result.again} {result.directory}"
        blocks.append(f"Repeat what is not counted when the machine is less busy: {again}")
    yield Section("Spoiled, as the machine stalled the control load itself for over 0.3 s", tuple(blocks))


def statements_report(
    title: str, found: Sequence[tuple[OfStudy, Mapping[str, Seen | None]]], studies: Mapping[str, Mapping[str, Any]]
) -> Report:
    """Return which statements of a finding hold where. studies: what each study says, by name, as JSON."""
    rows: list[Row | str] = []
    for statement, seen in found:
        rows.append(statement.text)
        rows += [Row((name, *_seen(one))) for name, one in seen.items()]
    everywhere = sum(all(one and one.holds == "in every run" for one in seen.values()) for _, seen in found)
    said = [
        {"text": statement.text, "on": {name: _seen_json(one) for name, one in seen.items()}}
        for statement, seen in found
    ]
    return Report(
        title=title,
        headline=f"{everywhere} of {len(found)} statements hold in every run, in every place.",
        blocks=(Table((Column("on"), Column("holds"), Column("longest pause", "number")), tuple(rows)),),
        data={"statements": said, "studies": dict(studies)},
    )


def _seen(one: Seen | None) -> tuple[str | Span, str]:
    if one is None:
        return "no run succeeded", _NONE
    looks = {"in every run": REPRODUCED.style, "in no run": NOT_REPRODUCED.style}
    return Span(one.holds, looks.get(one.holds, "")), spread(one.longest_s, "s")


def _seen_json(one: Seen | None) -> dict[str, Any] | None:
    return {"holds": one.holds, "longest_pause_s": list(one.longest_s)} if one else None


def claim_report(claim: Claim, verdicts: Mapping[str, Verdict]) -> Report:
    """Return what a claim of a work came to on each substrate."""
    rows, outcomes = [], [verdict.outcome for verdict in verdicts.values()]
    for name, verdict in verdicts.items():
        outcome = Span(verdict.outcome, look_of(verdict.outcome).style)
        what = verdict.effect.what if verdict.effect else verdict.why
        rows.append(Row((name, outcome, figure_text(verdict.effect), what)))
    columns = (Column("on"), Column("verdict"), Column("figure", "number"), Column("", "prose"))
    shown = {name: _verdict_json(verdict) for name, verdict in verdicts.items()}
    return Report(
        title=f"{claim.name}: {claim.says}",
        headline=(f"{claim.says}: ", *counted(outcomes, dict.fromkeys(outcomes))),
        blocks=(f"A claim of {claim.source}.", Table(columns, tuple(rows))),
        data={"claim": claim.name, "says": claim.says, "on": shown},
    )


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    effect = verdict.effect
    figure = {"what": effect.what, "unit": effect.unit, "values": list(effect.values)} if effect else None
    return {"outcome": verdict.outcome, "why": verdict.why, "held": verdict.held, "figure": figure}
