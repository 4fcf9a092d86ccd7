"""Lists and tables as HTML."""

import re
from collections.abc import Sequence
from html import escape

from wblab.lab.printable import printable
from wblab.lab.tables import Table

_LONG = 24  # letters
_NAME = re.compile(r"\*([\w-]+)\*")  # the disk *slow*


def as_list(texts: Sequence[str]) -> str:
    """Return texts as a list, names between asterisks in italics; nothing if there are none."""
    items = _NAME.sub(r"<em>\1</em>", "".join(f"<li>{escape(printable(text))}</li>" for text in texts))
    return f"<ul>{items}</ul>" if items else ""


def as_html(rows: Table, caption: str) -> str:
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
