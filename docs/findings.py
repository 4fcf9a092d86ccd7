"""The pages of findings, from experiments/findings: `make findings`.

    python docs/findings.py

`wblab study NAME --update` measures the figures of one anew; this writes them into the pages.
"""

from pathlib import Path

from wblab.lab.places import FINDINGS
from wblab.study.designs.finding.excerpt import FILE as TRACE
from wblab.study.designs.finding.fill import filled
from wblab.study.designs.finding.finding import names
from wblab.study.designs.finding.words import markdown

PAGES = Path(__file__).resolve().parent / "findings"


def page(name: str) -> str:
    """Return the page of a finding."""
    directory = FINDINGS / name
    trace = directory / TRACE
    indented = "\n".join(f"    {line}".rstrip() for line in trace.read_text().splitlines()) if trace.is_file() else ""
    return filled(directory, (directory / "page.md").read_text(), markdown, trace=indented)


if __name__ == "__main__":
    for each in names():
        (PAGES / f"{each}.md").write_text(page(each))
