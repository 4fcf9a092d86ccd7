"""A twin's runs: one spec with several seeds on the user's kernel, and how they are read back."""

import pytest
from support.originals import MACHINE

from wblab.core.errors import InputError
from wblab.lab.disks import read_disk
from wblab.live.twin import scale
from wblab.live.twin.described import with_disk
from wblab.study.plan import Plan
from wblab.study.store import Store


@pytest.fixture
def store(tmp_path):
    plan = scale.plan_of(scale.twin_study(MACHINE, tmp_path / "live"), 3, "6.12")
    return Store.create(tmp_path / "exp", plan, {"6.12": {"build_id": "b"}})


def test_runs_differ_only_in_their_seeds(store):
    specs = [cell.with_seed(seed) for cell, seed in store.plan.runs()]
    assert [(spec.kernel.build, spec.seed) for spec in specs] == [("6.12", 1), ("6.12", 2), ("6.12", 3)]
    assert len({repr((spec.disk, spec.load, spec.sysctl)) for spec in specs}) == 1


def test_the_directory_has_the_request(store, tmp_path):
    again = Store.open(store.path, "twin")
    question = scale.twin_study(MACHINE, tmp_path / "live")
    found = scale.read_study(again)
    assert (found.machine, found.live, found.twin.factor) == (MACHINE, question.live, question.twin.factor)
    assert Plan.from_json(again.plan.to_json()) == store.plan


def test_existing_runs_are_returned_in_the_order_of_seeds(store):
    for seed in (3, 1):
        (store.runs / f"twin-s{seed}").mkdir()
    assert scale.runs_in(store, lambda path: path.name) == ["twin-s1", "twin-s3"]


def test_the_directory_has_the_measured_disk(tmp_path):
    machine = with_disk(MACHINE, read_disk("usb-stick"))
    store = Store.create(
        tmp_path / "exp", scale.plan_of(scale.twin_study(machine, None), 1, ""), {"": {"build_id": "b"}}
    )
    found = scale.read_study(Store.open(store.path))
    assert (found.machine, found.live) == (machine, None)


@pytest.mark.parametrize("about", [{}, {"machine": {}}, {"machine": [], "factor": 1, "notes": [], "live": None}])
def test_a_directory_without_a_twin_is_refused(store, about):
    store.plan.about.clear()
    store.plan.about.update(about)
    with pytest.raises(InputError):
        scale.read_study(store)
