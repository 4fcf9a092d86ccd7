import json
import os
from pathlib import Path

import pytest

from wblab.host.machine import (
    available_memory_bytes,
    claim_processor,
    describe_host,
    free_shared_bytes,
    machine_lock,
    shared_memory,
)
from wblab.host.sandbox import landlock_version


def test_shared_memory_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("WBLAB_SHM", raising=False)
    assert shared_memory() == Path("/dev/shm")
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    assert shared_memory() == tmp_path
    assert free_shared_bytes() > 0


def test_available_memory_is_read():
    assert 1 << 20 < available_memory_bytes() < 1 << 50


def test_the_host_has_its_documented_description():
    host = describe_host()
    assert list(host) == ["cpu", "cores", "uname", "python", "tools", "landlock"]
    assert host["cores"] >= 1
    assert "mke2fs" in host["tools"]
    assert host["landlock"] == landlock_version()
    json.dumps(host)


class Busy(Exception):  # noqa: N818
    """Raised by a run that would have to wait."""


def refuse():
    raise Busy


@pytest.fixture(autouse=True)
def shm(tmp_path, monkeypatch):
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    return tmp_path


def test_runs_with_the_virtual_clock_share_the_machine():
    with machine_lock("virtual", refuse), machine_lock("virtual", refuse):
        pass


@pytest.mark.parametrize(("first", "second"), [("real", "virtual"), ("virtual", "real"), ("real", "real")])
def test_a_run_with_the_real_clock_is_alone(first, second, shm):
    with machine_lock(first, refuse), pytest.raises(Busy), machine_lock(second, refuse):
        pytest.fail("both run")
    with machine_lock(second, refuse):
        assert os.listdir(shm) == []


def test_a_waiting_run_gets_the_machine():
    first = machine_lock("real", refuse)
    first.__enter__()
    asked = []

    def waiting():
        asked.append(1)
        if len(asked) == 2:
            first.__exit__(None, None, None)

    with machine_lock("real", waiting):
        assert len(asked) == 2


def test_a_run_waiting_to_be_alone_is_not_overtaken():
    first = machine_lock("virtual", refuse)
    first.__enter__()

    def waiting():
        with pytest.raises(Busy), machine_lock("virtual", refuse):
            pytest.fail("overtaken")
        first.__exit__(None, None, None)

    with machine_lock("real", waiting):
        pass
    with machine_lock("virtual", refuse):
        pass


def test_claimed_processors_are_distinct_and_freed_with_their_holder():
    ours = os.sched_getaffinity(0)
    claims = [claim_processor() for _ in range(len(ours) + 1)]
    try:
        claimed = [claim.processor for claim in claims if claim.processor is not None]
        assert len(set(claimed)) == len(claimed)
        assert set(claimed) <= ours
        assert claims[-1].processor is None
    finally:
        for claim in claims:
            claim.held.close()
    if claimed:
        again = claim_processor()
        assert again.processor in ours
        again.held.close()


def test_one_that_may_be_shared_is_had_in_any_case():
    ours = os.sched_getaffinity(0)
    claims = [claim_processor() for _ in ours]
    try:
        shared = claim_processor(shared=True)
        assert shared.processor in ours
        shared.held.close()
        alone = claim_processor()
        assert alone.processor is None
        alone.held.close()
    finally:
        for claim in claims:
            claim.held.close()
