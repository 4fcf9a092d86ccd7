import os
import signal

import pytest

from wblab.core.child import describe_exit, fork_child


def refuse():
    raise RuntimeError("a reason")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (lambda: None, "exit code 0"),
        (refuse, "exit code 1"),
        (lambda: os._exit(7), "exit code 7"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "signal SIGKILL"),
    ],
)
def test_the_end_of_a_child_is_described(task, words):
    assert describe_exit(os.waitpid(fork_child(task), 0)[1]) == words


def test_a_child_reports_why_it_failed(capfd):
    os.waitpid(fork_child(refuse), 0)
    assert "RuntimeError: a reason" in capfd.readouterr().err


def test_a_child_blocks_no_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        pid = fork_child(lambda: os.kill(os.getpid(), signal.SIGUSR1))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    assert describe_exit(os.waitpid(pid, 0)[1]) == "signal SIGUSR1"
