"""What a cell shows: widgets in a browser that has them, and the same as static text everywhere else."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, pause_report
from wblab.analysis.runs.pauses import around as window_around
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explain_all, explanations
from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.lab.formats import CONSOLE
from wblab.lab.printable import printable
from wblab.lessons.notebook.lessoncells import as_html, as_list
from wblab.lessons.sections import SectionLook, View
from wblab.plot.picture import picture
from wblab.plot.timeline import timeline
from wblab.report.pausetext import below, headline, table
from wblab.report.quantities import duration
from wblab.report.text import block_lines
from wblab.report.whyanswer import groups, sentence
from wblab.report.whytext import evidence, sentences, total

_HANG = 2  # letters
_STYLE = """\
<style>
.wblab-lesson { max-width: 75em; line-height: 1.5; overflow-wrap: break-word; white-space: normal }
.wblab-lesson :is(p, ul, dl, pre) { max-width: 52em; margin: .4em 0 }
.wblab-lesson .scroll { overflow-x: auto }
.wblab-lesson pre { white-space: pre-wrap; word-break: normal; overflow-wrap: break-word }
.wblab-lesson pre > span { display: inline-block; max-width: 100% }
.wblab-lesson .long { min-width: 16em; white-space: normal }
.wblab-lesson table { border-collapse: collapse; margin: .4em 0 }
.wblab-lesson caption { text-align: left; font-weight: bold }
.wblab-lesson :is(th, td) { text-align: left; padding: .15em .7em .15em 0; border-bottom: 1px solid currentcolor }
.wblab-lesson :is(th, td):not(.long) { white-space: nowrap }
.wblab-lesson .n { text-align: right; font-variant-numeric: tabular-nums }
.wblab-lesson figure { margin: .5em 0 } .wblab-lesson img { width: 100%; min-width: 44em }
.wblab-lesson .options div { display: flex; flex-wrap: wrap; gap: 0 .6em } .wblab-lesson dt { min-width: 6em }
.wblab-lesson dd { margin: 0; flex: 1 1 14em } .wblab-lesson h3 { margin: .6em 0 .2em; font-size: 1.1em }
</style>
"""
# A program that shows widgets shows this style, too. It hides the static text beside them, and lets long lines wrap.
_LIVE_STYLE = """\
<style>
.wblab-static { display: none }
.widget-html-content:has(> .wblab-lesson) { min-width: 0 }
.wblab-choice label { height: auto; line-height: 1.4; white-space: normal; padding-left: 1.8em; position: relative }
.wblab-choice label input { position: absolute; left: 0; top: 0; height: 1.4em; margin: 0 }
.wblab-choice .widget-radio-box { height: auto; width: 100%; gap: .3em }
.jupyter-widgets.wblab-above { flex-direction: column; align-items: stretch }
.jupyter-widgets.wblab-above > .widget-label { text-align: left; width: auto }
</style>
"""


@dataclass(frozen=True)
class Shown:
    """What is shown, as HTML and as text."""

    html: str
    text: str

    @property
    def styled(self) -> str:
        """The HTML with the style that it has everywhere."""
        return f'{_STYLE}<div class="wblab-lesson">{self.html}</div>'


def said(text: str) -> Shown:
    """Return a line of text to be shown."""
    return Shown(f"<p>{escape(text)}</p>", printable(text))


def block(lines: Iterable[str]) -> Shown:
    """Return lines to be shown as they are; a long one goes on below its beginning, a little to the right."""
    texts = [printable(line) for line in lines]
    html = "\n".join(map(_hanging, texts))
    return Shown(f"<pre>{html}</pre>", "\n".join(texts))


def _hanging(text: str) -> str:
    """Return a line as HTML."""
    begins = len(text) - len(text.lstrip()) + _HANG
    return f'<span style="padding-left: {begins}ch; text-indent: -{begins}ch">{escape(text)}</span>'


def together(parts: Iterable[Shown]) -> Shown:
    """Return several things below one another."""
    every = list(parts)
    return Shown("\n".join(part.html for part in every), "\n".join(part.text for part in every))


def put(shown: Shown, widget: Any = None) -> None:
    """Show it in a cell's output: beside a widget it is hidden as soon as the widget is seen."""
    from IPython.display import display as untyped

    display: Any = untyped
    display({"text/html": f'<div class="wblab-static">{shown.styled}</div>', "text/plain": shown.text}, raw=True)
    if widget is not None:
        display(widget._repr_mimebundle_() | {"text/plain": ""}, raw=True)


def live(html: str) -> str:
    """Return HTML for a widget."""
    return f"{_LIVE_STYLE}{Shown(html, '').styled}"


def has_widgets() -> bool:
    """Whether there are widgets at all."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True


# What a student looks at: the table of pauses, the timeline, why in words, and what programs printed.

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
    sayings = [sentence(group) for group in causes]
    detail = [*sentences(causes[0].longest), total(explained)]
    html = f"{as_list(sayings)}<p>The longest pause of the first cause in detail:</p>{block(detail).html}"
    return Shown(html, "\n".join(map(printable, [*sayings, "", *detail])))


def _printed(run: Run, look: SectionLook) -> Shown:
    try:
        content = read_bytes(run.path / CONSOLE, _MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise InputError(f"cannot read {run.path / CONSOLE}: {error.strerror}") from None
    lines = [line for line in content.splitlines() if look.words in line]
    return block(lines or [f"No line of {CONSOLE} has {look.words!r}."])


_VIEWS: Mapping[View, Callable[[Run, SectionLook], Shown]] = {
    "pauses": _pauses,
    "timeline": _timeline,
    "why": _why,
    "printed": _printed,
}
