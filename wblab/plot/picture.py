"""The timeline of a run as a picture: its panes, drawn by Matplotlib; and any picture as a file."""

import re
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib import figure, rc_context
from matplotlib.collections import LineCollection
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch

from wblab.core.errors import InputError, WblabError
from wblab.core.units import NS_PER_S
from wblab.lab.held import replace_file
from wblab.plot.artists import PictureFigure, new_figure, patch_look, plot_mark, plot_pane
from wblab.plot.marks import Pane, Timeline
from wblab.plot.style import DARK, GRID, LEGEND_ROW_IN, MARK, PANE_HEIGHT_IN, PAUSE, WIDTH_IN, legend_rows, literal

Axes = Any  # matplotlib.axes.Axes
# Margins in inches. They are fixed because computing them takes longer than drawing.
_LEFT, _RIGHT, _TOP, _BOTTOM, _BETWEEN = 0.95, 0.2, 0.62, 0.75, 0.32
_LEGEND_LETTERS, _SWATCH_LETTERS = 165, 8  # in a row of the legend below all panes, and for each colour
_TITLE_LETTERS, _TITLE_ROW_IN = 155, 0.17  # letters in one line, and the height of a further line
_LABEL_AT = -0.062  # of a pane's width: where the labels of all y axes are aligned
_GRID_WIDTH, _GRID_ORDER = 0.5, 0.5  # in points; below all marks


class _TimeGrid(LineCollection):
    """Grid lines of the time axis, also on panes that hide it; drawing ticks there would take longer than all marks."""

    def draw(self, renderer: Any) -> None:
        ax: Axes = self.axes
        self.set_transform(ax.get_xaxis_transform())
        self.set_segments([[(at, 0), (at, 1)] for at in ax.xaxis.get_majorticklocs()])
        super().draw(renderer)


def picture(timeline: Timeline) -> PictureFigure:
    """Return the figure of a timeline: its panes on the run's time axis, with a line where each offender starts."""
    panes = timeline.panes
    heights_in = [PANE_HEIGHT_IN * pane.height for pane in panes]
    above_in = [LEGEND_ROW_IN * (legend_rows(pane.explained) - 1) for pane in panes]
    lines = [part for line in timeline.title.splitlines() for part in wrap(line, _TITLE_LETTERS)]
    top_in = _TOP + _TITLE_ROW_IN * (len(lines) - 1)
    bottom_in = _BOTTOM + LEGEND_ROW_IN * (_rows(timeline) - 1)
    height_in = top_in + bottom_in + sum(heights_in) + sum(above_in) + _BETWEEN * (len(panes) - 1)
    figure = new_figure(height_in)
    place_in = height_in - top_in
    rows: list[Axes] = []
    for pane, pane_in, room_in in zip(panes, heights_in, above_in, strict=True):
        place_in -= pane_in + room_in
        box = (_LEFT / WIDTH_IN, place_in / height_in, 1 - (_LEFT + _RIGHT) / WIDTH_IN, pane_in / height_in)
        # If limits are set first, Matplotlib need not compute them from the marks.
        rows.append(figure.add_axes(box, sharex=rows[0] if rows else None, xlim=timeline.shown_s))
        place_in -= _BETWEEN
        _add_pane(timeline, pane, rows[-1])
    for ax in rows[:-1]:
        ax.xaxis.set_visible(False)
    rows[-1].set_xlabel(f"time since {timeline.since} (s)")
    _name_offenders(timeline, rows[0])
    _explain_colours(timeline, figure)
    colour = PAUSE if timeline.run.failure else "black"
    figure.suptitle("\n".join(map(literal, lines)), fontsize=11, y=1 - 0.12 / height_in, va="top", color=colour)
    return figure


def _add_pane(timeline: Timeline, pane: Pane, ax: Axes) -> None:
    plot_pane(pane, timeline.run.zero_ns, ax=ax)
    # With y given, Matplotlib does not search for overlaps with the title, which takes longer than the rest.
    name = ax.set_title(literal(pane.head), loc="left", y=1, fontsize=10, fontweight="bold", pad=3)
    place = {"xycoords": name, "textcoords": "offset points", "va": "bottom"}
    ax.annotate(literal(pane.what), (1, 0), (6, 0), color=MARK, fontsize=9, **place)
    ax.grid(axis="y", color=GRID, linewidth=_GRID_WIDTH)
    ax.add_artist(_TimeGrid([], colors=GRID, linewidths=_GRID_WIDTH, zorder=_GRID_ORDER))
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.yaxis.set_label_coords(_LABEL_AT, 0.5)
    for mark in timeline.everywhere:
        plot_mark(mark, timeline.run.zero_ns, ax)


def _name_offenders(timeline: Timeline, ax: Axes) -> None:
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top"}
    for start_ns, text in timeline.starts:
        start_s = (start_ns - timeline.run.zero_ns) / NS_PER_S
        offset, ha = ((4, -2), "left") if timeline.has_room(start_ns, text) else ((-4, -2), "right")
        ax.annotate(literal(text), (start_s, 1), offset, ha=ha, fontsize=9, color=MARK, **place)


def _explain_colours(timeline: Timeline, figure: PictureFigure) -> None:
    patches: list[Any] = [
        tuple(Patch(linewidth=0, **patch_look(colour, meaning.is_hatched)) for colour in meaning.colours)
        for meaning in timeline.meanings
    ]
    labels = [meaning.text for meaning in timeline.meanings]
    handlers = {tuple: HandlerTuple(ndivide=None, pad=0)}
    columns = -(-len(labels) // _rows(timeline))
    look: dict[str, Any] = {"loc": "lower right", "ncols": columns, "frameon": False, "fontsize": 9}
    figure.legend(patches, labels, handler_map=handlers, **look)


def _rows(timeline: Timeline) -> int:
    """Return the number of rows of the legend below all panes."""
    letters = sum(len(meaning.text) + _SWATCH_LETTERS for meaning in timeline.meanings)
    return max(1, -(-letters // _LEGEND_LETTERS))


_FINE = re.compile(r"<!--.*?-->|\bscale\([^)]*\)|-?\d+\.\d{3,}", re.DOTALL)  # what is said and scaled stays as it is
_LETTER_PLACE = re.compile(r'transform="translate\(([\d.]+) 0\)"')
_LETTER = re.compile(r'( (?:id="|href="#))DejaVuSans-')
_BETWEEN_TAGS = re.compile(r">\s+<")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_ATTRIBUTE = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6})"')


def svg(figure: figure.Figure) -> str:
    """Return a figure as an SVG element for a page; the same figure gives the same text."""
    stream = StringIO()
    with rc_context({"svg.hashsalt": "wblab", "svg.fonttype": "path"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = _BETWEEN_TAGS.sub(">\n<", _FINE.sub(_rounded, text[text.index("<svg") :]))
    # Each letter is an element, and most of a drawing.
    return _LETTER_PLACE.sub(r'x="\1"', _LETTER.sub(r"\1l-", text.replace(' xlink:href="#', ' href="#')))


def _rounded(found: re.Match[str]) -> str:
    """Return a number of a drawing in hundredths of a point, which halves the drawing."""
    number = found[0]
    return number if number[0] in "<s" else f"{float(number):.2f}".rstrip("0").rstrip(".")


THEMED = 'class="narrow themed"'  # how such an element begins


def themed(figure: figure.Figure) -> str:
    """Return a figure as an SVG element that is dark on a dark page, also as a file of its own. It fits a phone."""
    known = {colour.lower(): f"of-{colour[1:].lower()}" for colour in DARK}
    text = _COLOUR.sub(
        lambda found: f"var(--{known[found[0]]})" if found[0] in known else found[0],
        _ATTRIBUTE.sub(r'style="\1: \2"', svg(figure)),
    )
    used = {light: dark for light, dark in DARK.items() if f"var(--{known[light.lower()]})" in text}
    light, dark = (
        "".join(f"--of-{name[1:].lower()}:{to};" for name, to in zip(used, of, strict=True))
        for of in (used, used.values())
    )
    colours = f".themed{{{light}fill:var(--of-000000)}}@media(prefers-color-scheme:dark){{.themed{{{dark}}}}}"
    return text.replace("<svg ", f"<svg {THEMED} ", 1).replace(">", f"><style>{colours}</style>", 1)


# Files of pictures: permitted suffixes, and the metadata fields in which Matplotlib would write the date.
FORMATS: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save(figure: figure.Figure, title: str, path: Path) -> None:
    """Write a figure in the format of the suffix. Its metadata hold the title and no date.

    Raises InputError for another suffix, WblabError if the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot draw {str(path)!r}: its name must end in {', '.join(FORMATS)}")
    try:
        # Without a salt the ids of an SVG's elements are random.
        with rc_context({"svg.hashsalt": title}), replace_file(path) as file:
            figure.savefig(file, format=suffix[1:], metadata={"Title": title} | FORMATS[suffix])
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None
