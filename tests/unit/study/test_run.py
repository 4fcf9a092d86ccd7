import itertools

import pytest
from support.studyrows import table_of

from wblab.core.errors import WblabError
from wblab.study.cluster import Cluster
from wblab.study.made import made_of
from wblab.study.run import Runner, Tally
from wblab.study.work import Order, WorkResult

AXES = {"disk.scheduler": ["none", "bfq"]}
REAL = {"clock.mode": "real"}


class Future:
    """A future that is done at once."""

    def __init__(self, value):
        self.value = value

    def done(self):
        return True

    def release(self):
        pass

    def result(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class Client:
    """Answers orders with a function, and records them."""

    def __init__(self, answer, workers=1, status="running"):
        self.status = status
        self.answer, self.workers, self.orders, self.cancelled = answer, workers, [], []

    def nthreads(self):
        return {str(number): 1 for number in range(self.workers)}

    def submit(self, function, order, *, key, pure):
        self.orders.append(order)
        return Future(self.answer(order))

    def cancel(self, futures, force):
        self.cancelled += futures


def good(archive, cell, seed, **keys):
    """Return the result of a worker that made a run and read it."""
    return WorkResult(archive(cell, seed, **keys), rows=[("c1", "control", "paused_s", 0.0)])


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr("distributed.wait", lambda *arguments, **keys: None)


@pytest.fixture
def start(archive):
    """Return a function that makes a store's missing runs; `answer` gives a result for a cell, a seed and a count."""

    def run(store, answer, **keys):
        cells = {cell.name: cell for cell in store.plan.cells}
        counts = {}

        def of_order(order: Order):
            spec = order.unpacked()
            assert order.build_id == "a" * 64
            name, _, seed = spec.name.rpartition("-s")
            counts[spec.name] = counts.get(spec.name, 0) + 1
            return answer(cells[name], int(seed), counts[spec.name])

        client = Client(of_order, **keys)
        words = []
        cluster = Cluster(client, patience_s=0)
        tally = Runner(store, cluster, lambda share, text: words.append((share, text))).run()
        return tally, client, words

    return run


def test_all_runs_are_made_and_stored(make_store, archive, start):
    store = make_store(AXES, seeds=3)
    tally, client, words = start(store, lambda cell, seed, count: good(archive, cell, seed))
    assert (tally.done, tally.failures, len(client.orders)) == (6, [], 6)
    assert store.missing() == []
    assert words[0] == (0.0, "0 of 6 runs")
    assert "left" in words[-1][1]


def test_finished_runs_are_not_repeated(make_store, archive, start):
    store = make_store(AXES, seeds=2)
    first, _, _ = start(
        store, lambda cell, seed, count: good(archive, cell, seed) if seed == 1 else WorkResult(b"", "no")
    )
    assert (first.done, len(first.failures)) == (2, 2)
    again, client, _ = start(store, lambda cell, seed, count: good(archive, cell, seed))
    assert (again.done, again.total, len(client.orders)) == (2, 2, 2)


def test_failures_are_reported_and_stored(make_store, archive, start):
    def answer(cell, seed, count):
        if cell.name == "0-none":
            return WorkResult(archive(cell, seed, outcome="failed", reason="it broke"), "it broke")
        return ValueError("of\nall things") if seed == 1 else WorkResult(b"no archive", rows=[])

    store = make_store(AXES, seeds=[1, 2])
    tally, _, _ = start(store, answer)
    reasons = {(item.cell.name, item.seed): reason for item, reason in tally.failures}
    assert reasons[("0-none", 1)] == "it broke"
    assert reasons[("1-bfq", 1)] == "ValueError: of all things"
    assert "cannot be unpacked" in reasons[("1-bfq", 2)]
    assert {path.name for path in store.runs.iterdir()} == {"_0-none-s1", "_0-none-s2", "_1-bfq-s1", "_1-bfq-s2"}


def test_noisy_runs_are_repeated(make_store, archive, start):
    store = make_store(set=REAL, repeats=3)
    tally, client, _ = start(
        store, lambda cell, seed, count: good(archive, cell, seed, stall_ms=90 if count < 3 else 0)
    )
    assert (tally.done, tally.repeated, tally.failures, len(client.orders)) == (1, 2, [], 3)
    assert {path.name for path in store.runs.iterdir()} == {"0-s1", "0-s1.noisy", "0-s1.noisy-2"}
    assert set(table_of(store)["run"]) == {"0-s1"}


def test_noisy_runs_are_repeated_a_limited_number_of_times_and_never_counted(make_store, archive, start):
    store = make_store(set=REAL, repeats=1)
    tally, client, _ = start(store, lambda cell, seed, count: good(archive, cell, seed, stall_ms=90))
    ((_, reason),) = tally.failures
    assert reason == "noisy 2 times: its control load stalled for 90 ms"
    assert len(client.orders) == 2
    assert not list(made_of(store))
    assert len(store.missing()) == 1


def test_the_noise_limit_is_the_matrix_s_and_only_for_the_real_clock(make_store, archive, start):
    for keys in ({"set": REAL, "control_bound": "100ms"}, {}):
        tally, _, _ = start(make_store(**keys), lambda cell, seed, count: good(archive, cell, seed, stall_ms=90))
        assert tally.done == 1


def test_runs_with_the_real_clock_come_last(make_store, archive, start):
    store = make_store({"clock.mode": ["real", "virtual"]}, seeds=2)
    _, client, _ = start(store, lambda cell, seed, count: good(archive, cell, seed))
    modes = [order.unpacked().clock.mode for order in client.orders]
    assert modes == ["virtual", "virtual", "real", "real"]


def test_workers_get_no_more_orders_than_they_need(make_store, archive, start):
    ahead = []

    def answer(cell, seed, count):
        if seed == 4:
            raise KeyboardInterrupt
        ahead.append(seed)
        return good(archive, cell, seed)

    store = make_store(seeds=20)
    with pytest.raises(KeyboardInterrupt):
        start(store, answer)
    assert ahead == [1, 2, 3]
    assert len(store.missing()) == 17


def test_a_cluster_without_workers_ends_the_matrix(make_store, start):
    with pytest.raises(WblabError, match="all workers are gone"):
        start(make_store(), lambda cell, seed, count: WorkResult(b""), workers=0)


def test_a_lost_scheduler_ends_the_matrix(make_store, start):
    with pytest.raises(WblabError, match="the scheduler is gone"):
        start(make_store(), lambda cell, seed, count: WorkResult(b""), status="closed")


def test_summaries_in_words():
    tally = Tally(10, done=3, repeated=1)
    tally.failures.append((None, "x"))
    assert tally.words(40) == "4 of 10 runs, 1 failed, 1 repeated, about 60 s left"
    assert list(itertools.islice(Tally(3).words(9), 9)) == list("0 of 3 ru")
