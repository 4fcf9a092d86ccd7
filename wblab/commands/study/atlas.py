"""wblab study atlas: all claims and recommendations, on every built kernel and every filesystem.

An interrupted atlas continues when it is called again. It also repeats whatever was made with an older kernel, lab or
spec.
"""

import argparse
from typing import TYPE_CHECKING, TypeVar

from wblab.commands.common import results, tell
from wblab.core.errors import InputError, nearest
from wblab.lab.designs import ATLAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wblab.study.designs.atlas.made import Made
    from wblab.study.designs.atlas.target import Target

Name = TypeVar("Name", bound=str)

_SEEDS = 5  # of each case and recommendation; if there are more, only undecided ones get them all


def make(arguments: argparse.Namespace) -> None:
    """Make what an atlas lacks, and write one page that shows what reproduces where."""
    from wblab.host.machine import processors
    from wblab.kernels import built_kernels, list_kernels
    from wblab.lab.progress import step
    from wblab.report.page import write
    from wblab.study.designs.atlas.made import is_current, make, read, read_all
    from wblab.study.designs.atlas.plan import planned
    from wblab.study.designs.atlas.report import PAGE, counts, report

    series = [listed.series for listed in list_kernels()]
    targets, resolve = _targets(arguments), built_kernels()
    atlas = arguments.output or results(arguments) / ATLAS
    made: list[Made] = []
    fresh = 0
    for number, target in enumerate(targets, 1):
        plan = planned(target, arguments.seeds or _SEEDS, resolve)
        if is_current(plan, atlas):
            made.append(read(target, atlas))
            continue
        with step(f"{number} of {len(targets)}: {target.source} on {target.series}, {target.filesystem}"):
            made.append(make(plan, atlas, arguments.jobs or processors()))
        fresh += 1
        write(report(read_all(atlas, series)), atlas / PAGE)
    found = [{"target": item.target.name, "release": item.release} | counts(item) for item in made]
    told = report(read_all(atlas, series))  # with all targets of earlier calls
    page = write(told, atlas / PAGE)
    tell(told, page, as_json=arguments.json, page=str(page), made_now=fresh, targets=found)


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    yield ATLAS, "all claims and recommendations, on all kernels and filesystems"


def _targets(arguments: argparse.Namespace) -> "list[Target]":
    from wblab.kernels import list_kernels
    from wblab.study.designs.atlas.target import FILESYSTEMS, SOURCES, Target

    built = tuple(listed.series for listed in list_kernels() if listed.kernel)
    if not built:
        raise InputError("no kernel is built: wblab kernel build")
    series = _chosen("--kernel", arguments.kernel, built)
    filesystems = _chosen("--filesystem", arguments.filesystem, FILESYSTEMS)
    sources = _chosen("PART", arguments.parts, SOURCES)
    return [Target(one, other, source) for one in series for other in filesystems for source in sources]


def _chosen(option: str, given: "Sequence[str]", known: "tuple[Name, ...]") -> "tuple[Name, ...]":
    """Return the given names, or all if none is given, in the order of `known`. Raises InputError."""
    for name in given:
        if name not in known:
            raise InputError(f"{option}: {name!r} is not one of {', '.join(known)}{nearest(name, list(known))}")
    return tuple(name for name in known if not given or name in given)
