"""What a student looks at: the table of pauses, the timeline, why in words, and what programs printed."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import escape
from io import BytesIO
from pathlib import Path

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, pause_report
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.runs.window import around as window_around
from wblab.analysis.why.explanations import explain_all, explanations
from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.lab.formats import CONSOLE
from wblab.lab.printable import printable
from wblab.lessons.notebook.html import as_html, as_list
from wblab.lessons.notebook.shown import Shown, block, said
from wblab.lessons.sections import Look, View
from wblab.plot.picture import picture
from wblab.plot.timeline import timeline
from wblab.report.pausetext import below, headline, table
from wblab.report.quantities import duration
from wblab.report.whyanswer import groups, sentence
from wblab.report.whyevidence import evidence
from wblab.report.whytext import sentences, total

_MOST_BYTES = 1 << 20
_REMEMBERED = 32


def looked(run: Run, look: Look) -> Shown:
    """Return what a look at a run shows. Raises InputError for a damaged run."""
    return _looked(run.path, look)


@lru_cache(_REMEMBERED)
def _looked(path: Path, look: Look) -> Shown:
    return _VIEWS[look.view](read_run(path), look)


def _pauses(run: Run, look: Look) -> Shown:
    report = pause_report(run)
    first = headline(report)
    rows = table(report)
    more = list(map(printable, below(report)))
    html = f"<p>{escape(first)}</p>{as_html(rows, f'Pauses of {run.path.name}')}{as_list(more)}"
    return Shown(html, "\n".join([first, *rows.lines(), *more]))


def _timeline(run: Run, look: Look) -> Shown:
    cache, lost = None, ""
    try:
        cache = page_cache(run) if run.spec.trace.events else None
    except InputError as error:
        lost = f" It shows only the loads: {error}."
    window = window_around(run, look.around) if look.around else None
    figure = picture(timeline(run, cache, window=window, explained=explain_all(run, cache) if cache else []))
    png = BytesIO()
    figure.savefig(png, format="png")
    told = headline(pause_report(run))
    part = f"around the longest pause of {look.around}" if look.around else "of the whole run"
    memory = ", and the memory that is dirty or being written" if cache else ""
    about = f"Timeline {part} {run.path.name}: the loads' cycles{memory}.{lost}"
    image = f'<img alt="{escape(f"{about} {told}")}" src="data:image/png;base64,{b64encode(png.getvalue()).decode()}">'
    caption = f"<figcaption>{escape(about)}</figcaption>"
    html = (
        f'<figure><div class="scroll" tabindex="0" role="group" aria-label="Timeline">{image}</div>{caption}</figure>'
    )
    return Shown(html, f"{about} {told}")


def _why(run: Run, look: Look) -> Shown:
    found = explanations(run, look.load)
    bound = duration(DEFAULT_BOUND_NS)
    if not found:
        return said(f"No pause over {bound}.")
    if look.evidence:
        return block(evidence(run, found, bound))
    explained = [item.explanation for item in found]
    causes = groups(explained)
    sayings = [sentence(group) for group in causes]
    detail = [*sentences(causes[0].longest), *total(explained)]
    html = f"{as_list(sayings)}<p>The longest pause of the first cause in detail:</p>{block(detail).html}"
    return Shown(html, "\n".join(map(printable, [*sayings, "", *detail])))


def _printed(run: Run, look: Look) -> Shown:
    try:
        content = read_bytes(run.path / CONSOLE, _MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise InputError(f"cannot read {run.path / CONSOLE}: {error.strerror}") from None
    lines = [line for line in content.splitlines() if look.words in line]
    return block(lines or [f"No line of {CONSOLE} has {look.words!r}."])


_VIEWS: Mapping[View, Callable[[Run, Look], Shown]] = {
    "pauses": _pauses,
    "timeline": _timeline,
    "why": _why,
    "printed": _printed,
}
