"""Run a function in a child process, and describe how a process ended."""

import os
import signal
import sys
from collections.abc import Callable


def fork_child(task: Callable[[], None]) -> int:
    """Run `task` in a child process and return its pid. The child exits with 0, or with 1 after an exception."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        task()
        status = 0
    except BaseException:
        import traceback  # imported here, as only an error needs it

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def describe_exit(wait_status: int) -> str:
    """Describe how a process ended, from the status of waitpid(2)."""
    return describe_code(os.waitstatus_to_exitcode(wait_status))


def describe_code(code: int) -> str:
    """Describe how a process ended, from its exit code or the negative number of the signal that ended it."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
