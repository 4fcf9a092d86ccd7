import resource

import pytest

from wblab.core.errors import InputError
from wblab.host import shelllimits

ONE = 1 << 20


@pytest.fixture
def limits(monkeypatch):
    found = {resource.RLIMIT_FSIZE: resource.RLIM_INFINITY, resource.RLIMIT_NOFILE: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda number: (found[number], resource.RLIM_INFINITY))
    return found


def test_what_suffices_is_not_mentioned(limits):
    shelllimits.check(ONE)
    limits |= {resource.RLIMIT_FSIZE: ONE, resource.RLIMIT_NOFILE: 128}
    shelllimits.check(ONE)


def test_a_file_that_may_not_be_so_large_is_refused_with_the_command(limits):
    limits[resource.RLIMIT_FSIZE] = ONE - 1024
    with pytest.raises(InputError, match=r"at most 1023 KiB .*\(ulimit -f\), the run needs 1 MiB: ulimit -f unlimited"):
        shelllimits.check(ONE)


def test_too_few_open_files_are_refused_with_the_command(limits):
    limits[resource.RLIMIT_NOFILE] = 64
    with pytest.raises(InputError, match=r"only 64 files open .*\(ulimit -n\), the run needs 128: ulimit -n 1024"):
        shelllimits.check(ONE)
