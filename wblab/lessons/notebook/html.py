"""Lists and tables as HTML."""

from collections.abc import Sequence
from html import escape

from wblab.lab.printable import printable
from wblab.lab.tables import Table


def as_list(texts: Sequence[str]) -> str:
    """Return texts as a list; nothing if there are none."""
    items = "".join(f"<li>{escape(printable(text))}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def as_html(rows: Table, caption: str) -> str:
    """Return a table as HTML."""

    def cells(row: Sequence[str], kind: str) -> str:
        return "".join(
            f"<{kind}{' class=n' if at in rows.right else ''}{' scope=col' if kind == 'th' else ''}>"
            f"{escape(printable(cell))}</{kind}>"
            for at, cell in enumerate(row)
        )

    head = f"<thead><tr>{cells(rows.heads, 'th')}</tr></thead>" if rows.heads else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows.rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table></div>"
    )
