"""What the interface's modules share: where results are, tables of pandas, and how objects show themselves."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.lab import places
from wblab.lab.extras import require
from wblab.lab.printable import printable
from wblab.report.report import Report, within

if TYPE_CHECKING:
    import pandas as pd


def results(exp: "str | Path | None" = None) -> Path:
    """Return the directory of results: the one given, else the lab's own. Raises InputError for one not to be trusted.

    What depends on the directory that we are in may be somebody else's.
    """
    from wblab.machine.trust import check_found

    if exp is None and not places.RESULTS.is_absolute():
        check_found(
            places.RESULTS, f"if you trust who can write to it, name it: --exp {shlex.quote(str(places.RESULTS))}"
        )
    return places.RESULTS if exp is None else Path(exp)


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
