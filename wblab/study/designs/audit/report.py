"""Whether something was the same to the bit when it was made again, as reports."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.analysis.runs.difference import EventDifference
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.core.units import Bytes
from wblab.kernels import Kernel, sort_events
from wblab.lab.formats import REPEAT
from wblab.lab.kernelname import variants_of
from wblab.lab.specfile import spec_of
from wblab.report.palette import NOT_REPRODUCED, REPRODUCED
from wblab.report.report import Block, Column, Lines, Report, Row, Section, Span, Table
from wblab.study.inputs import inputs_of, reason

if TYPE_CHECKING:
    from wblab.study.designs.audit.audit import Audit
    from wblab.study.designs.audit.expected import Compared
    from wblab.study.designs.audit.golden import Golden, GoldenVerdict


# Trace everything: the first event that differs between two runs is close to the reason.

# Traced as far as the kernel has them. The buffer is part of the guest's memory, so both runs need the same size.
_SYSTEMS = (
    "block",
    "ext4",
    "filemap",
    "irq",
    "jbd2",
    "kmem",
    "raw_syscalls",
    "sched",
    "signal",
    "syscalls",
    "task",
    "timer",
    "vmscan",
    "workqueue",
    "writeback",
    "xfs",
)
_BUFFER = Bytes(32 << 20)


def traced_fully(spec: Spec, kernel: Kernel) -> Spec:
    """Return the spec with every event of these systems that the kernel has."""
    events = sort_events(kernel, _SYSTEMS).traced
    return replace(spec, trace=replace(spec.trace, events=events, buffer=max(spec.trace.buffer, _BUFFER)))


# A record that repeats a run on any machine: its spec, its digest, and the inputs that the digest depends on.
#
# It is small and names nothing of the machine where the run was made, so that it can be handed on without the run.

_MOST_INPUTS, _LONGEST_TEXT = 100, 500
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Record:
    """What repeats a run. digest: of its measurements. made_with: its inputs beside the spec, by name.

    kernel: its release, for readers. needs_kernel: the kernel was given by its path, which no other machine has, so the
    spec names none. may_lose: the trace may lose events, which otherwise fails a run.
    """

    spec: Spec
    digest: str
    made_with: Mapping[str, str]
    kernel: str
    needs_kernel: bool = False
    may_lose: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether the same inputs give the same bytes: not by the host's clock."""
        return self.spec.clock.mode == "virtual"

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file. Keys stay in order: that of loads and disks is part of the experiment."""
        about = {"kernel": self.kernel, "needs_kernel": self.needs_kernel, "may_lose": self.may_lose}
        about |= {"digest": self.digest}
        return REPEAT.head() | about | {"made_with": dict(self.made_with), "spec": to_table(self.spec)}


def record(spec: Spec, digest: str, made_with: Mapping[str, str], release: str) -> Record:
    """Return the record of a run of a spec. release: of its kernel."""
    is_path = os.sep in spec.kernel.name
    kernel = release + variants_of(spec.kernel.build)
    return Record(spec.on("") if is_path else spec, digest, made_with, kernel, needs_kernel=is_path)


def record_of(run: Run) -> Record:
    """Return the record of a run that has its directory. Raises InputError for a live run and for a damaged trace."""
    release = str((run.record.get("kernel") or {}).get("release", "unknown"))
    return record(guest_spec(run), digest(run), inputs_of(run.record), release)


def read_record(path: Path) -> Record:
    """Return the record in a file, which may be a stranger's. Raises InputError."""
    content = REPEAT.read(path)
    try:
        spec = spec_of(content["spec"], exact=True)
        check_spec(spec)
        if not _DIGEST.fullmatch(content["digest"]):
            raise ValueError("its digest is none")
        made_with, needs_kernel = _texts(content["made_with"]), content["needs_kernel"] is True
        may_lose = content.get("may_lose") is True
        return Record(spec, content["digest"], made_with, _text(content["kernel"]), needs_kernel, may_lose)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def _texts(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or len(value) > _MOST_INPUTS:
        raise TypeError(f"a table of at most {_MOST_INPUTS} entries was expected")
    return {_text(key): _text(item) for key, item in value.items()}


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise TypeError(f"a text of at most {_LONGEST_TEXT} characters was expected")
    return value


_TITLE = "Is it the same to the bit?"
_SHOWN = 3  # differences of two runs
_MOST = 20  # runs that are listed


def of_runs(
    first: Path, second: Path, differences: Sequence[EventDifference], excuses: Sequence[str], digest: str
) -> Report:
    """Return whether two runs are the same. excuses: reasons why they may differ. digest: of both, if they are."""
    return Report(
        title=_TITLE,
        headline="The runs differ." if differences else "Identical: every cycle of every load, and every event.",
        blocks=(
            _named(("first", str(first)), ("second", str(second)), *([("digest", digest)] if digest else [])),
            *_different(differences),
        ),
        notes=tuple(f"{excuse}." for excuse in excuses),
        data={
            "first": str(first),
            "second": str(second),
            "differences": [asdict(item) for item in differences],
            "excuses": list(excuses),
            "digest": digest,
        },
    )


def _different(differences: Sequence[EventDifference]) -> Iterator[Block]:
    for item in differences[:_SHOWN]:
        yield Section(
            f"{item.what}, at {item.at_s:.9f} s", (_lines("first:", item.first), _lines("second:", item.second))
        )
    if left := [item.what for item in differences[_SHOWN:]]:
        yield f"And later: {'; '.join(left)}."


def _lines(head: str, lines: Sequence[str]) -> Section:
    return Section(head, (Lines(tuple(lines)),))


def of_digests(first: Mapping[str, str], recorded: str, made: Path, second: str, inputs: Sequence[str]) -> Report:
    """Return whether a run is the one that a row or a record describes. first: what that is, by names.

    recorded, second: the two digests. inputs: names of the inputs that differ.
    """
    same = "Identical: the digest of every cycle of every load, and every event."
    return Report(
        title=_TITLE,
        headline=same if second == recorded else "The new run is another.",
        blocks=(_named(*first.items(), ("recorded", recorded), ("new run", str(made)), ("its digest", second)),),
        data={**first, "second": str(made), "digests": [recorded, second], "different_inputs": list(inputs)},
    )


def of_share(study: Path, directory: Path, found: "Audit") -> Report:
    """Return how many of a study's runs were the same. directory: of those made again."""
    same, other = len(found.same), len(found.differing)
    rate = found.rate if found.compared else None
    shown = [f"{100 * value:.3g}" for value in rate or ()]
    said = "{} % of such runs are identical to the bit ({} to {} %, confidence 95 %)."
    rows = [(name, "differs", reason(inputs)) for name, inputs in found.differing.items()]
    rows += [(name, "failed", why) for name, why in found.failed.items()]
    table = Table((Column("run"), Column(""), Column("", "prose")), tuple(map(Row, rows)), _MOST)
    return Report(
        title=_TITLE,
        headline=f"{found.compared} of {found.runs:,} runs made again: {same} identical, {other} different.",
        blocks=(*([said.format(*shown)] if rate else []), table),
        data={"study": str(study), "directory": str(directory), "runs": found.runs, "compared": found.compared}
        | dict(zip(("rate", "low", "high"), rate or (None, None, None), strict=True))
        | {"identical": same, "different": dict(found.differing), "failed": dict(found.failed)},
    )


def of_series(found: "Mapping[str, Sequence[Compared]]") -> Report:
    """Return how the presets of series compare with what is expected of them."""
    every = [(name, one) for name, some in found.items() for one in some]
    rows = [Row((name, one.preset, _look(str(one), fits=one.fits))) for name, one in every]
    return Report(
        title="The presets, beside what is expected of them",
        headline=f"{sum(one.fits for _, one in every)} of {len(every)} runs are as expected.",
        blocks=(Table((Column("series"), Column("preset"), Column("", "prose")), tuple(rows)),),
        data={"series": {name: [_compared_json(one) for one in some] for name, some in found.items()}},
    )


def _compared_json(one: "Compared") -> dict[str, object]:
    verdict = {"same": one.verdict.same, "differing": one.verdict.differing, "strange": one.strange}
    return {"preset": one.preset, "fits": one.fits} | verdict


def of_base(directory: Path, new: "Golden", verdict: "GoldenVerdict | None") -> Report:
    """Return how the base run compares with those of other machines. verdict: None if it was recorded for them."""
    about: dict[str, object] = {"directory": str(directory), "digest": new.digest}
    if verdict is None:
        said, about = "Recorded for other machines.", {"directory": str(directory), "noted": asdict(new)}
    else:
        said = f"{str(verdict)[0].upper()}{str(verdict)[1:]}."
        about |= {"nearest": verdict.nearest.on, "same": verdict.same, "differing": verdict.differing}
    return Report(_TITLE, said, (_named(("run", str(directory)), ("digest", new.digest)),), data=about)


def _named(*rows: tuple[str, str]) -> Table:
    return Table((Column(""), Column("")), tuple(map(Row, rows)))


def _look(text: str, *, fits: bool) -> Span:
    return Span(text, (REPRODUCED if fits else NOT_REPRODUCED).style)
