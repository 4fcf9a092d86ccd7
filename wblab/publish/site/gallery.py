"""The gallery: runs of presets, made on the spot, or found again among the results."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab.host.limits import Limits
from wblab.kernels import KernelResolver
from wblab.lab.progress import Report
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.lessons.runs import made
from wblab.publish.site.page import RUNS, File, Link, page, relative
from wblab.publish.site.runpage import PICTURE, Shown

FEW = ("base-device", "base", "two-disks", "commit")
UP = Link("All runs", RUNS)


def presets(which: str) -> Sequence[str]:
    """Return the names of the presets to run: few, all or none."""
    return {"few": FEW, "all": tuple(SPECS.names()), "none": ()}[which]


def gallery(
    names: Sequence[str], kernel: str, results: Path, resolve: KernelResolver, report: Report
) -> Iterator[Shown]:
    """Yield the runs of presets; one that is not among the results is made. Raises WblabError.

    kernel: the guests' kernel by its full name; empty: that of each preset.
    """
    for name in names:
        report(None, f"run {name}")
        path = SPECS.find(name)
        spec = read_spec(path)
        # Presets may trace more than a student's runs, which have limits of their own.
        run = made(spec.on(kernel) if kernel else spec, results, resolve, limits=Limits())
        yield Shown(run, f"runs/{name}", name, question(path.read_text()), UP)


def gallery_page(runs: Sequence[Shown]) -> File:
    """Return the page of all runs."""
    items = [
        {
            "link": Link(one.title, relative(RUNS, one.address), one.about),
            "picture": f"{one.title}/{PICTURE}",
            "says": one.says,
        }
        for one in runs
    ]
    return page(RUNS, "Runs", "gallery.html", items=items)


def question(text: str) -> str:
    """Return the question that a preset's first lines state."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#") or line.startswith("# Try:"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)
