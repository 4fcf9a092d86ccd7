"""The pages of findings, from their templates in experiments/findings: with medians, or with whole tables."""

from collections.abc import Sequence

from wblab.lab.places import FINDINGS
from wblab.publish.docpages.markdown import middle
from wblab.study.designs.finding.excerpt import FILE as TRACE
from wblab.study.designs.finding.fill import filled
from wblab.study.designs.finding.words import Layout, markdown

_PAGE = "page.md"
_MORE = "Tables have medians here; the pages of `make docs` have the ranges, and further tables."


def short(name: str) -> str:
    """Return a finding's page whose tables have medians only. Raises InputError."""
    title, body = _page(name, _medians).split("\n", 1)
    return f"{title}\n\n{_MORE}\n{body}"


def whole(name: str) -> str:
    """Return a finding's page whose tables have medians and ranges. Raises InputError."""
    return _page(name, markdown)


def _page(name: str, layout: Layout) -> str:
    directory = FINDINGS / name
    trace = directory / TRACE
    indented = "\n".join(f"    {line}".rstrip() for line in trace.read_text().splitlines()) if trace.is_file() else ""
    return filled(directory, (directory / _PAGE).read_text(), layout, trace=indented, whole=layout is markdown)


def _medians(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown(heads, [[label, *map(middle, values)] for label, *values in rows])
