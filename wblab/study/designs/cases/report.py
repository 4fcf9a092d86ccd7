"""Write the report of a verification: one self-contained page, and the verdicts as JSON."""

import base64
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, VERDICTS, write_json
from wblab.lab.held import replace_file
from wblab.plot.save import save
from wblab.report.palette import look_of
from wblab.report.quantities import listed, quantity
from wblab.report.render import render
from wblab.study.designs.cases.chart import Drawn, longest_pauses
from wblab.study.designs.cases.result import OUTCOMES, Result, figure_text
from wblab.study.sources.cases import CASES
from wblab.study.sources.changes import CHANGED
from wblab.study.sources.claim import Effect
from wblab.study.sources.registry import WORKS
from wblab.study.sources.sample import Sample

_CLASSES = {outcome: look_of(outcome).style for outcome in OUTCOMES}


@dataclass(frozen=True)
class Shown:
    """A figure of the page. what: its caption; png: the picture in base64."""

    what: str
    png: str


def keep(drawn: Drawn, directory: Path, form: str) -> Shown:
    """Write a figure to a file (png, svg or pdf) and return it as the page shows it. Raises WblabError."""
    path = directory / f"{drawn.name}.{form}"
    save(drawn.figure, drawn.title, path)
    return Shown(drawn.what, base64.b64encode(path.read_bytes() if form == "png" else _png(drawn)).decode())


def write_report(
    result: Result, directory: Path, form: str = "png", shown: Mapping[str, Sequence[Shown]] | None = None
) -> Path:
    """Write the page, the figure of the longest pauses and verdicts.json; return the page's path. Raises WblabError.

    form: format of the figure's file: png, svg or pdf. shown: figures of single runs, by case.
    """
    shown = shown or {}
    try:
        overall = longest_pauses(result.samples)
        figures = [keep(overall, directory, form)] if overall else []
        figures += [one for case in result.samples for one in shown.get(case, ())]
        write_json(directory / VERDICTS, result.to_json(directory))
        page = directory / REPORT
        with replace_file(page) as file:
            file.write(_page(result, figures).encode())
    except OSError as error:
        raise WblabError(f"cannot write the report into {directory}: {error.strerror}") from None
    return page


def _page(result: Result, figures: list[Shown]) -> str:
    return render(
        "wblab.study.designs.cases",
        REPORT,
        title=f"{WORKS[result.work].title} on Linux {result.release}",
        cites=WORKS[result.work].cites,
        result=result,
        classes=_CLASSES,
        wall=quantity(result.wall_s, "s"),
        rows=[
            {
                "claim": claim,
                "verdict": verdict,
                "figure": figure_text(verdict.effect),
                "values": _values(verdict.effect),
                "changed": CHANGED.get(claim.name, ""),
            }
            for claim, verdict in result.verdicts
        ],
        figures=figures,
        cases=[_case(name, samples) for name, samples in result.samples.items()],
        build=str(result.kernel.get("build_id", ""))[:16],
        verdicts=VERDICTS,
    )


def _png(drawn: Drawn) -> bytes:
    file = BytesIO()
    drawn.figure.savefig(file, format="png")
    return file.getvalue()


def _case(name: str, samples: list[Sample]) -> dict[str, object]:
    known = CASES[name]
    changes = [word for setting in known.settings for word in ("--set", setting)]
    spec = shlex.join(["wblab", "run", known.preset, *changes])
    runs = [(f"seed {item.run.spec.seed}", f"{RUNS}/{item.run.name}/{EXPERIMENT}") for item in samples]
    return {"name": name, "what": known.what, "spec": spec, "runs": runs}


def _values(effect: Effect | None) -> str:
    return listed(effect.values, effect.unit) if effect else ""
