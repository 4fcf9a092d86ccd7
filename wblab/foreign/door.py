"""A file of any machine, or what comes by a pipe: named for what it is, and explained if it can be."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.core.units import format_bytes
from wblab.foreign.eventreport import event_blocks, event_data, event_headline, event_report
from wblab.foreign.eventtext import Events, read_events
from wblab.foreign.filekind import PACKED, PEEK_BYTES, TEXT, TRACE, FileKind, kind_of, kind_of_text
from wblab.foreign.machinereport import headline, machine_blocks, machine_data, machine_report, to_try
from wblab.foreign.machinetext import MachineText, read_machine
from wblab.foreign.plaintext import decoded, unwrapped
from wblab.foreign.recording import facts_text, is_recording
from wblab.foreign.sleepreport import sleep_report
from wblab.foreign.sleeptext import SIGN, read_sleeps
from wblab.foreign.slowlog import SlowCall, read_slow_calls
from wblab.foreign.slowreport import slow_blocks, slow_data, slow_headline, slow_report
from wblab.foreign.stackreport import evidence_report, stack_report
from wblab.foreign.stacks import MOST_BYTES, read_stacks
from wblab.foreign.traced import Asked
from wblab.foreign.tracereport import trace_report
from wblab.lab.printable import printable
from wblab.report.report import Report, Section

STANDARD_INPUT = "-"


def explained(
    file: str,
    *,
    tasks: Sequence[str] = (),
    span_ns: tuple[int | None, int | None] = (None, None),
    bound_ns: int = DEFAULT_BOUND_NS,
    is_evidence: bool = False,
) -> Report:
    """Return the report on a file, or on standard input for "-". Raises InputError that says what the file is.

    tasks, span_ns: of a trace, see `Asked`. bound_ns: calls that took longer there are pauses. is_evidence:
    all stacks, or all pauses with their evidence, in place of the answer.
    """
    name, content = _content(file)
    kind = kind_of(content.lstrip(b"\0")[:PEEK_BYTES] or content[:PEEK_BYTES])
    asked, is_kept = Asked(tuple(tasks), *span_ns), False
    if file != STANDARD_INPUT and (kind is TRACE or (is_kept := kind.name == PACKED and is_recording(Path(file)))):
        traced = trace_report(Path(file), asked, bound_ns, is_evidence=is_evidence, is_kept=is_kept)
        if not is_kept or is_evidence:
            return traced
        return _with_machine(traced, read_machine(facts_text(Path(file))), is_traced=True)
    if file != STANDARD_INPUT and kind.name == PACKED and (facts := facts_text(Path(file))):
        content, kind = facts.encode(), TEXT
    if asked != Asked():
        raise InputError(f"--task, --from and --to choose of a trace, and {name!r} is {kind.what}: leave them out")
    if kind is not TEXT:
        raise _refused(name, kind, file)
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{name!r} is a text of more than {format_bytes(MOST_BYTES)}: take the part with the stacks: "
            f"grep -a -A 40 'blocked for more' {name}"
        )
    return _of_text(name, unwrapped(decoded(content)), file, is_evidence=is_evidence)


def _of_text(name: str, text: str, file: str, *, is_evidence: bool) -> Report:
    """Return the report on what says most in a text, with what else is in it. Raises InputError if nothing is."""
    machine, throttled, events = read_machine(text), _throttled(name, text), read_events(text)
    slept = read_sleeps(text) if SIGN in text else None
    if slept and slept.sleeps:  # the stacks in it are of these sleeps
        said = _with_report(sleep_report(name, slept), "Dirty limits in it", throttled)
        return _with_machine(_with_events(said, events), machine)
    stacks, slow = read_stacks(text), read_slow_calls(text)
    if stacks.tasks and is_evidence:
        return evidence_report(name, stacks)
    if stacks.tasks:
        said = _with_slow(stack_report(name, stacks), slow)
    elif throttled:
        said = _with_events(throttled, events)
    elif slow:
        said = slow_report(name, slow)
    elif events:
        said = event_report(name, events)
    elif machine:
        return machine_report(name, machine)
    else:
        raise _refused(name, kind_of_text(text), file)
    return _with_machine(said, machine)


def _with_machine(report: Report, machine: MachineText | None, *, is_traced: bool = False) -> Report:
    """Return a report with what its text shows of the machine, too.

    is_traced: a trace has shown what stalled whom, so nothing is to be tried that its state alone suggests.
    """
    if machine is None:
        return report
    tries = [] if is_traced else to_try(machine)
    section = Section("The machine's state", (headline(machine), *tries, *machine_blocks(machine)))
    return replace(report, blocks=(*report.blocks, section), data={**report.data, "machine": machine_data(machine)})


def _with_report(report: Report, head: str, other: Report | None) -> Report:
    """Return a report with what another one says."""
    if other is None:
        return report
    section = Section(head, (other.headline, *other.blocks))
    return replace(report, blocks=(*report.blocks, section), data={**report.data, "throttling": dict(other.data)})


def _with_slow(report: Report, slow: Sequence[SlowCall]) -> Report:
    """Return a report with the slow calls that programs logged in its text, too."""
    if not slow:
        return report
    section = Section("Slow calls that programs logged", (slow_headline(slow), *slow_blocks(slow)))
    return replace(report, blocks=(*report.blocks, section), data={**report.data, "slow": slow_data(slow)})


def _throttled(name: str, text: str) -> Report | None:
    """Return the report on a trace as text; None if it has no decisions on dirty limits."""
    from wblab.foreign.throttlereport import throttle_report
    from wblab.foreign.throttletext import read_throttlings

    found = read_throttlings(text) if "balance_dirty_pages:" in text else None
    return throttle_report(name, found) if found else None


def _with_events(report: Report, events: Events | None) -> Report:
    """Return a report with what its text shows of disks and of dirty memory, too."""
    if not events or not (events.disks or events.dirty):
        return report
    section = Section("Its disks and dirty memory", (event_headline(events), *event_blocks(events)))
    return replace(report, blocks=(*report.blocks, section), data={**report.data, "events": event_data(events)})


def _content(file: str) -> tuple[str, bytes]:
    """Return a file's name in words and its begin, one byte longer than the longest text that is read."""
    if file == STANDARD_INPUT:
        return "standard input", sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with open_file(Path(file), follow=True) as opened:
            return Path(file).name, opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {file!r}: {error.strerror}") from None


def _refused(name: str, kind: FileKind, file: str) -> InputError:
    """Return the error that names a file for what it is. file: as it was given, which commands to do with it need."""
    given = shlex.quote(printable(file)) if file != STANDARD_INPUT else "FILE"
    what, to_do = (words.replace("NAME", given) for words in (kind.what, kind.to_do))
    return InputError(f"{name!r} is {what}{f': {to_do}' if to_do else ''}")
