import os
import tempfile
import tomllib
from pathlib import Path

import pytest
from support.specs import SPEC

from wblab.core.child import fork_child


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run tests of POSIX AIO in a process of their own, each.

    The C library keeps threads for it. A process that is forked later takes them to be its own, and waits for ever.
    """
    if "[aio" not in pyfuncitem.name:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    pid = fork_child(lambda: pyfuncitem.obj(**arguments))
    assert os.waitpid(pid, 0)[1] == 0, "see standard error"
    return True


@pytest.fixture
def table():
    """A spec as a table that the test may change."""
    return tomllib.loads(SPEC)


@pytest.fixture
def disk():
    """A directory on a filesystem with a disk."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="wblab-tests-") as directory:
        yield Path(directory)
