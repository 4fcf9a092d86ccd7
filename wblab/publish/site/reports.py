"""A report as a part of a page: its pictures become files of the site, and its links lead to its runs."""

from collections.abc import Callable

from wblab.publish.site.page import File
from wblab.report.report import Picture, Report, Span, changed


def placed(
    report: Report, folder: str, target: Callable[[str], str | None], stem: str = "picture"
) -> tuple[Report, list[File]]:
    """Return a report for a page of the site, and its pictures: as files, because twelve make a page larger than 1 MB.

    folder: that of the page. target: the site's address for a link, from that folder; None drops it. stem: of the
    pictures' names.
    """
    pictures: list[File] = []

    def picture(found: Picture) -> Picture:
        name = f"{stem}-{len(pictures) + 1}.{'svg' if found.svg else 'png'}"
        pictures.append(File(f"{folder}/{name}", found.svg.encode() or found.png))
        return Picture(found.what or f"Figure {len(pictures)} of the report", address=name)

    def span(found: Span) -> Span:
        if not found.link or found.link.startswith("#"):
            return found
        return Span(found.text, found.look, target(found.link) or "", found.form)

    return changed(report, span, picture), pictures
