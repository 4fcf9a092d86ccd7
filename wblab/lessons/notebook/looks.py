"""What a student looks at: of one run the pauses, the timeline, why, and what was printed; and all runs together."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from io import BytesIO
from itertools import chain
from pathlib import Path

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, load_pauses, pause_report
from wblab.analysis.runs.pauses import around as window_around
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explain_all, explanations
from wblab.core.errors import InputError, nearest
from wblab.core.files import read_bytes
from wblab.lab.formats import CONSOLE
from wblab.lab.printable import printable
from wblab.lessons.notebook.shown import Shown, as_html, as_list, block, said
from wblab.lessons.sections import SectionLook, View
from wblab.plot.picture import picture
from wblab.plot.timeline import timeline
from wblab.report.listing import Listing
from wblab.report.page import fragment
from wblab.report.pausetext import below, headline, table
from wblab.report.quantities import column, duration
from wblab.report.report import within
from wblab.report.text import block_lines, lines
from wblab.report.whyanswer import sentence
from wblab.report.whycause import groups
from wblab.report.whytext import evidence, sentences, total

_MOST_BYTES = 1 << 20
_REMEMBERED = 32


def looked(run: Run, look: SectionLook) -> Shown:
    """Return what a look at a run shows. Raises InputError for a damaged run."""
    return _looked(run.path, look)


@lru_cache(_REMEMBERED)
def _looked(path: Path, look: SectionLook) -> Shown:
    return _VIEWS[look.view](read_run(path), look)


def _pauses(run: Run, look: SectionLook) -> Shown:
    report = pause_report(run)
    first = headline(report)
    rows = table(report)
    more = list(map(printable, below(report)))
    html = f"<p>{escape(first)}</p>{as_html(rows, f'Pauses of {run.path.name}')}{as_list(more)}"
    return Shown(html, "\n".join([first, *rows.lines(), *more]))


def _timeline(run: Run, look: SectionLook) -> Shown:
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


def _why(run: Run, look: SectionLook) -> Shown:
    found = explanations(run, look.load)
    bound = duration(DEFAULT_BOUND_NS)
    if not found:
        return said(f"No pause over {bound}.")
    if look.evidence:
        return block(block_lines(*evidence(run, found, bound)))
    explained = [item.explanation for item in found]
    causes = groups(explained)
    sayings = [sentence(group, run.kinds) for group in causes]
    detail = [*sentences(causes[0].longest), total(explained)]
    html = f"{as_list(sayings)}<p>The longest pause of the first cause in detail:</p>{block(detail).html}"
    return Shown(html, "\n".join(map(printable, [*sayings, "", *detail])))


def _printed(run: Run, look: SectionLook) -> Shown:
    try:
        content = read_bytes(run.path / CONSOLE, _MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise InputError(f"cannot read {run.path / CONSOLE}: {error.strerror}") from None
    found = [line for line in content.splitlines() if look.words in line]
    return block(found or [f"No line of {CONSOLE} has {look.words!r}."])


_VIEWS: Mapping[View, Callable[[Run, SectionLook], Shown]] = {
    "pauses": _pauses,
    "timeline": _timeline,
    "why": _why,
    "printed": _printed,
}


# A load's longest pauses over the runs of all specs and seeds, and what a comparison says of them.

Runs = Mapping[str, Sequence[Run]]  # by the file of their spec


def _seeds(runs: Runs, look: SectionLook) -> Shown:
    """Return a row for each spec and a column for each seed: so the runs of one seed stand below each other."""
    seeds = sorted({run.spec.seed for run in chain(*runs.values())})
    found = {file: {run.spec.seed: _longest_s(run, look.load) for run in each} for file, each in runs.items()}
    texts = iter(column([value for each in found.values() for value in each.values()], "s"))
    cells = {file: {seed: next(texts) for seed in each} for file, each in found.items()}
    rows = [(file, *(each.get(seed, "-") for seed in seeds)) for file, each in cells.items()]
    heads = ("spec", *(f"seed {seed}" for seed in seeds))
    table = Listing(rows, heads, frozenset(range(1, len(heads))))
    title = f"Longest pause of {look.load} in each run"
    return Shown(as_html(table, title), "\n".join([printable(title), *table.lines()]))


def _longest_s(run: Run, load: str) -> float:
    for item in run.loads:
        if item.name == load:
            return load_pauses(item, run.zero_ns).longest_pause_s
    raise InputError(f"no load {load!r}{nearest(load, [item.name for item in run.loads])}")


def _compared(runs: Runs, look: SectionLook) -> Shown:
    from wblab.analysis.groups.comparison import compare  # with pandas, which takes time to load
    from wblab.analysis.groups.observations import found_observations
    from wblab.report.comparisonreport import report

    paths = [str(run.path) for run in chain(*runs.values())]
    try:
        data = found_observations(paths, Path(), [look.by])
    except InputError:
        return said(f"No two of your runs differ in {look.by} yet. Change it, and press Check.")
    comparison = compare(data).of_these(*([name] if name else [] for name in (look.load, look.metric)))
    found = report(comparison, every=True)
    return Shown(fragment(within(found, "terminal"), 4), "\n".join(lines(found, None)))


# Views of all runs together.
SERIES: Mapping[View, Callable[[Runs, SectionLook], Shown]] = {"seeds": _seeds, "compare": _compared}
