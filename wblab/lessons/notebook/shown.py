"""What a cell shows: widgets in a browser that has them, and the same as static text everywhere else."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from wblab.lab.printable import printable
from wblab.report.listing import Listing

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


# Lists and tables as HTML.

_LONG = 24  # letters
_NAME = re.compile(r"\*([\w-]+)\*")  # the disk *slow*


def as_list(texts: Sequence[str]) -> str:
    """Return texts as a list, names between asterisks in italics; nothing if there are none."""
    items = _NAME.sub(r"<em>\1</em>", "".join(f"<li>{escape(printable(text))}</li>" for text in texts))
    return f"<ul>{items}</ul>" if items else ""


def as_html(rows: Listing, caption: str) -> str:
    """Return a table as HTML."""

    def cells(row: Sequence[str], kind: str) -> str:
        return "".join(_cell(cell, kind, is_right=at in rows.right) for at, cell in enumerate(row))

    head = f"<thead><tr>{cells(rows.heads, 'th')}</tr></thead>" if rows.heads else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows.rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, kind: str, *, is_right: bool) -> str:
    """Return a cell: a number at the right, or a long text that may be wrapped. An empty one is no heading."""
    plain = "td" if not text else kind
    name = " class=n" if is_right else " class=long" if len(text) > _LONG else ""
    return f"<{plain}{name}{' scope=col' if plain == 'th' else ''}>{escape(printable(text))}</{plain}>"
