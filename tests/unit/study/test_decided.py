"""More and more seeds for what is not decided yet."""

from dataclasses import replace

import pytest

from wblab.study.decided import Open, SeedQuestion, run_until_decided
from wblab.study.plan import Shard
from wblab.study.run import Attempt, Tally
from wblab.study.store import Store

FAILING = "2-c-s1"


@pytest.fixture
def asked(make_matrix, tmp_path):
    """Return a function that asks about three cells, of which fewer are open at each look; it returns what was run."""

    def ask(*, goes_on=False, failing=(), shard=None):
        plan = replace(make_matrix({"o": {"a": {}, "b": {}, "c": {}}}, seeds=6), shard=shard)
        store, runs, said = Store(tmp_path, plan, {}), [], []
        names = {f"{cell.name}-s{seed}": (cell, seed) for cell in plan.cells for seed in plan.seeds}

        def run(wanted):
            runs.append(wanted)
            return Tally(len(wanted), failures=[(Attempt(*names[name]), "no") for name in wanted if name in failing])

        left = [Open(plan.cells[1:], "2 of 3"), Open(plan.cells[1:2], "1 of 3"), Open((), "none")]
        question = SeedQuestion([1, 2, 4, 6], lambda: left.pop(0), plan.cells[:1], goes_on)
        tally = run_until_decided(store, question, run, said.append)
        return runs, said, tally

    return ask


def test_only_open_cells_get_more_seeds_until_none_is_open(asked):
    runs, said, tally = asked()
    assert runs == [
        {"0-a-s1", "1-b-s1", "2-c-s1"},
        {"1-b-s1", "1-b-s2", "2-c-s1", "2-c-s2"},
        {f"1-b-s{seed}" for seed in (1, 2, 3, 4)},
    ]
    assert said == ["1 seeds: 2 of 3", "2 seeds: 1 of 3", "4 seeds: none"]
    assert tally.total == 3 + 4 + 4


def test_a_failure_ends_it_unless_the_others_go_on(asked):
    runs, said, tally = asked(failing=[FAILING])
    assert (len(runs), said, len(tally.failures)) == (1, [], 1)
    runs, _, tally = asked(failing=[FAILING], goes_on=True)
    assert runs[1] == {"1-b-s1", "1-b-s2", "2-c-s2"}
    assert len(tally.failures) == 1


def test_a_part_of_a_study_makes_the_first_runs_alone(asked):
    runs, said, _ = asked(shard=Shard(1, 2))
    assert (len(runs), said) == (1, [])
