"""What the interface's objects share: tables of pandas, and how objects show themselves."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from wblab.lab.extras import require
from wblab.lab.printable import printable
from wblab.report.report import Report, within

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Sequence[Any]], columns: Sequence[str], index: str | Sequence[str] = ()) -> "pd.DataFrame":
    """Return rows as a table of pandas. index: columns that name the rows. Raises InputError where pandas is missing.

    Texts that may be others' are made printable.
    """
    require(("explore",))
    import pandas as pd

    shown = [[printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    table = pd.DataFrame(shown, columns=list(columns))
    keys = [index] if isinstance(index, str) else list(index)
    return table.set_index(keys) if keys else table


_STYLE = """\
<style>
.wblab :is(td, th) { text-align: left; vertical-align: top }
.wblab :is(td, th).number { text-align: right; white-space: nowrap }
.wblab :is(h4, h5, h6) { font-size: 1em; margin: .8em 0 .3em }
.wblab p { margin: .4em 0 } .wblab .lead { font-weight: bold } .wblab .scroll { overflow-x: auto }
</style>
"""


def shown(report: Report) -> str | None:
    """Return what a notebook shows of a report: as much as a terminal. None where Jinja2 is missing: then its text."""
    try:
        from wblab.report.page import fragment
    except ModuleNotFoundError:
        return None
    return f'{_STYLE}<div class="wblab">{fragment(within(report, "terminal"), 4)}</div>'
