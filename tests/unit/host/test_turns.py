import os

import pytest

from wblab.host.turns import turn


class Busy(Exception):  # noqa: N818
    """Raised by one that would have to wait."""


def refuse():
    raise Busy


@pytest.fixture(autouse=True)
def shm(tmp_path, monkeypatch):
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path))
    return tmp_path


def test_runs_with_the_virtual_clock_share_the_machine():
    with turn("virtual", refuse), turn("virtual", refuse):
        pass


@pytest.mark.parametrize(("first", "second"), [("real", "virtual"), ("virtual", "real"), ("real", "real")])
def test_a_run_with_the_real_clock_is_alone(first, second, shm):
    with turn(first, refuse), pytest.raises(Busy), turn(second, refuse):
        pytest.fail("both run")
    with turn(second, refuse):
        assert os.listdir(shm) == []


def test_a_waiting_run_gets_the_machine():
    first = turn("real", refuse)
    first.__enter__()
    asked = []

    def waiting():
        asked.append(1)
        if len(asked) == 2:
            first.__exit__(None, None, None)

    with turn("real", waiting):
        assert len(asked) == 2


def test_a_run_waiting_to_be_alone_is_not_overtaken():
    first = turn("virtual", refuse)
    first.__enter__()

    def waiting():
        with pytest.raises(Busy), turn("virtual", refuse):
            pytest.fail("overtaken")
        first.__exit__(None, None, None)

    with turn("real", waiting):
        pass
    with turn("virtual", refuse):
        pass
