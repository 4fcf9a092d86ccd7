"""Control groups of parties: of a run's loads by its spec, of a machine's tasks by what was noted at their pause."""

from collections.abc import Iterable, Mapping

from wblab.analysis.runs.run import Run
from wblab.analysis.why.parties import Parties, each_of
from wblab.core.check import ROOT_GROUP
from wblab.core.spec import Spec


def memberships(run: Run, parties: Parties) -> Mapping[str, str]:
    """Return the control group of each party that is in one, by its name; without the root group.

    A party is left out if its tasks in the trace are in several groups, or if one of them ended before it was asked.
    """
    if isinstance(run.spec, Spec):
        phases = [phase.cgroup for phase in run.spec.phase.values()]
        tables = [table for groups in (run.spec.cgroup, *phases) for table in groups.items() if table[0] != ROOT_GROUP]
        return {load: name for name, group in tables for load in group.loads}
    recorded = parties.recorded
    found: dict[str, set[str]] = {}
    for task in recorded.tasks.names if recorded.groups else ():
        found.setdefault(parties.owner(task), set()).add(recorded.groups.get(task, ""))
    return {
        name: one for name, (one, *more) in ((name, tuple(paths)) for name, paths in found.items()) if one and not more
    }


def those_of(groups: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """Return the control groups of parties that are named, by the names of the programs in these."""
    return {name: groups[name] for party in named for name in each_of(party) if name in groups}
