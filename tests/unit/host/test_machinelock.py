import os

import pytest

from wblab.host.machine import machine_lock


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
