"""A report as a page: one HTML file that needs no other file and no network."""

from wblab import __version__
from wblab.report.render import render
from wblab.report.report import Report
from wblab.report.text import mail


def page(report: Report) -> str:
    """Return the page."""
    values = {"title": report.title, "report": report, "mail": "\n".join(mail(report)), "version": __version__}
    return render("wblab.report", "report.html", **values)
