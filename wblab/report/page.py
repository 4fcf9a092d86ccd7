"""A report as a page: one HTML file that needs no other file and no network."""

import gzip
import json
import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Undefined
from markupsafe import Markup

from wblab import __version__
from wblab.core.errors import WblabError
from wblab.lab.held import replace_file
from wblab.lab.printable import printable
from wblab.report.palette import LOOKS
from wblab.report.report import Report, kind_of
from wblab.report.text import mail

# HTML from templates: values are escaped unless the template marks them as HTML.

_BASE = "wblab.report"  # the package with the base template of all pages
_WIDTH = 120  # letters in a line of packed data
_ADDRESS = re.compile(r"^<.* at 0x[0-9a-f]+>$")  # Python's default text of an object
_LONG = 20  # rows: a longer table opens by a click, by a link into it, and by a search in the page
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_NO_HEAD = re.compile(r"<th\b[^>]*></th>")  # a reader of screens would announce it
_BETWEEN_TAGS = re.compile(r"(?<=>)[^<>]+(?=<)")
_OPTION = re.compile(r"(?<!\S)--?[a-z][\w-]*")
_NAME = re.compile(r"\S{16,}")  # wider than a column of a phone may be
_JOINT = re.compile(r"(?<=[\w}\]);])([_.=/,:{]|&amp;)(?=[\w{&])")


def _for_people(value: Any) -> Any:
    """Return a value as a template prints it. Raises TypeError unless it is a text or a number.

    This catches mistakes in templates: `row.values` of a dict is a method, and would appear in the page as one.
    """
    if isinstance(value, Undefined):  # it raises where it is printed, or is an `if` without an `else`
        return value
    if value is None or callable(value) or _ADDRESS.search(str(value)):
        raise TypeError(f"a page would show {value!r}")
    return value


def render(package: str, template: str, *, beside: str = _BASE, **values: Any) -> str:
    """Return a template of a package's `templates`, filled in. beside: another package, whose layouts it extends."""
    return _environment(package, beside).get_template(template).render(values)


@cache  # a site has thousands of pages from one template
def _environment(package: str, beside: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, beside, _BASE))]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_for_people,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["palette"] = LOOKS
    environment.filters |= {"kind": kind_of, "data_url": _data_url, "printable": printable, "framed": framed}
    return environment


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


def framed(table: str, is_folded: bool = False) -> Markup:
    """Return a table of HTML in a frame that scrolls it; a long one is folded, unless what it stands in is.

    Its first row names its columns, or no row does.
    """
    table = whole_words(_NO_HEAD.sub("<td></td>", table))
    scrolled = f'<div class="scroll" tabindex="0">{table}</div>'
    heads = _HEAD.findall(table)
    rows = table.count("<tr") - bool(heads)
    if is_folded or rows <= _LONG:
        return Markup(scrolled)
    columns = ", ".join(filter(None, (Markup(head).striptags() for head in heads)))
    named = Markup("<summary>{} rows{}</summary>").format(rows, f": {columns}" if columns else "")
    return Markup(f"<details>{named}\n{scrolled}</details>")


def whole_words(html: str) -> str:
    """Return HTML whose lines break where a reader would: no option after its hyphens, a long name after its joints."""
    return _BETWEEN_TAGS.sub(lambda found: _breakable(found[0]), html)


def _breakable(text: str) -> str:
    named = _NAME.sub(lambda found: _JOINT.sub(r"\1<wbr>", found[0]), text)
    return _OPTION.sub(r'<span class="whole">\g<0></span>', named)


def packed(value: Any) -> str:
    """Return data for a page's script as text: JSON, compressed, in short lines; see wblab/plot/assets/packed.js."""
    whole = json.dumps(value, separators=(",", ":"), sort_keys=True)
    text = b64encode(gzip.compress(whole.encode(), mtime=0)).decode()
    return "\n".join(text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH))


def write_page(path: Path, text: str) -> None:
    """Replace a page atomically. Raises WblabError if it cannot be written."""
    try:
        with replace_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None


def page(report: Report) -> str:
    """Return the page."""
    mailed = "\n".join(mail(report))
    return render("wblab.report", "report.html", title=report.title, report=report, mail=mailed, version=__version__)


def fragment(report: Report, level: int) -> str:
    """Return what stands in the page, without its title, for another page. level: of its first headings."""
    return render("wblab.report", "fragment.html", report=report, level=level, mail="\n".join(mail(report)))


def write(report: Report, path: Path) -> Path:
    """Write the page, and return its path. Raises WblabError."""
    write_page(path, page(report))
    return path
