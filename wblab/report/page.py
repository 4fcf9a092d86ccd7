"""A report as a page: one HTML file that needs no other file and no network."""

from pathlib import Path

from wblab import __version__
from wblab.report.render import render, write_page
from wblab.report.report import Report
from wblab.report.text import mail


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
