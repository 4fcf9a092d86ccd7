"""All claims and recommendations, on every built kernel and every filesystem.

An interrupted atlas continues when it is asked for again. It also repeats whatever was made with an older kernel, lab
or spec.
"""

from collections.abc import Sequence
from typing import TypeVar

from wblab.claims.atlas import NAME
from wblab.claims.atlas.made import MadeTarget, is_current, planned, read, read_all
from wblab.claims.atlas.made import make as make_target
from wblab.claims.atlas.report import PAGE, counts, report
from wblab.claims.atlas.target import FILESYSTEMS, SOURCES, Target
from wblab.core.errors import InputError, nearest
from wblab.host.machine import processors
from wblab.kernels import built_kernels, list_kernels
from wblab.lab.progress import step
from wblab.report.page import write
from wblab.study.asked import StudyAnswer, StudyRequest

Name = TypeVar("Name", bound=str)

_SEEDS = 5  # of each case and recommendation; if there are more, only undecided ones get them all


def make(asked: StudyRequest) -> StudyAnswer:
    """Make what an atlas lacks, and write one page that shows what reproduces where."""
    series = [listed.series for listed in list_kernels()]
    targets, resolve = _targets(asked), built_kernels()
    atlas = asked.output or asked.results / NAME
    made: list[MadeTarget] = []
    fresh = 0
    for number, target in enumerate(targets, 1):
        plan = planned(target, asked.seeds or _SEEDS, resolve)
        if is_current(plan, atlas):
            made.append(read(target, atlas))
            continue
        with step(f"{number} of {len(targets)}: {target.source} on {target.series}, {target.filesystem}"):
            made.append(make_target(plan, atlas, asked.jobs or processors()))
        fresh += 1
        write(report(read_all(atlas, series)), atlas / PAGE)
    found = [{"target": item.target.name, "release": item.release} | counts(item) for item in made]
    told = report(read_all(atlas, series))  # with all targets of earlier calls
    page = write(told, atlas / PAGE)
    return StudyAnswer(atlas, told, (page,), {"page": str(page), "made_now": fresh, "targets": found})


def _targets(asked: StudyRequest) -> list[Target]:
    built = tuple(listed.series for listed in list_kernels() if listed.kernel)
    if not built:
        raise InputError("no kernel is built: wblab kernel build")
    series = _chosen("--kernel", asked.kernel, built)
    filesystems = _chosen("--filesystem", asked.filesystem, FILESYSTEMS)
    sources = _chosen("PART", asked.parts, SOURCES)
    return [Target(one, other, source) for one in series for other in filesystems for source in sources]


def _chosen(option: str, given: Sequence[str], known: tuple[Name, ...]) -> tuple[Name, ...]:
    """Return the given names, or all if none is given, in the order of `known`. Raises InputError."""
    for name in given:
        if name not in known:
            raise InputError(f"{option}: {name!r} is not one of {', '.join(known)}{nearest(name, list(known))}")
    return tuple(name for name in known if not given or name in given)
