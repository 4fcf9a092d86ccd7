"""A signal of ours is the program's, once: it lies in a file for the guest. The next one is ours again."""

import os
import signal
import threading

import pytest

from wblab.on.signals import Awaited, forget_signal, passed_on


@pytest.fixture(autouse=True)
def _own_handlers():
    def raised(number, frame):
        raise KeyboardInterrupt

    before = {number: signal.signal(number, raised) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_goes_on_and_the_second_is_ours(tmp_path, number):
    guest = Awaited(tmp_path)
    with passed_on(tmp_path) as came:
        assert guest.take() is None
        os.kill(os.getpid(), number)
        assert (guest.take(), guest.take(), came) == (number, None, [number])
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    forget_signal(tmp_path)
    assert Awaited(tmp_path).take() is None
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_a_signal_for_a_guest_that_has_ended_is_ours(tmp_path):
    with pytest.raises(KeyboardInterrupt), passed_on(tmp_path / "gone") as came:
        os.kill(os.getpid(), signal.SIGINT)
    assert came == []


def test_what_is_ignored_stays_so(tmp_path):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with passed_on(tmp_path) as came:
        os.kill(os.getpid(), signal.SIGINT)
    assert (came, list(tmp_path.iterdir())) == ([], [])


def test_what_a_stranger_puts_there_is_no_signal(tmp_path):
    (tmp_path / "signal").write_text("99")
    assert Awaited(tmp_path).take() is None


def test_in_another_thread_nothing_is_changed(tmp_path):
    def other():
        with passed_on(tmp_path) as came:
            found.append(came)

    found = []
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [[]]
