import resource

import pytest

from wblab.core.errors import InputError
from wblab.host import check as shelllimits

ONE = 1 << 20


def check(size_bytes, files=resource.RLIM_INFINITY, descriptors=resource.RLIM_INFINITY):
    """Check a run in a shell with these limits."""
    found = {resource.RLIMIT_FSIZE: files, resource.RLIMIT_NOFILE: descriptors}
    shelllimits.check(size_bytes, lambda number: (found[number], resource.RLIM_INFINITY))


def test_what_suffices_is_not_mentioned():
    check(ONE)
    check(ONE, files=ONE, descriptors=128)


def test_a_file_that_may_not_be_so_large_is_refused_with_the_command():
    with pytest.raises(InputError, match=r"at most 1023 KiB .*\(ulimit -f\), the run needs 1 MiB: ulimit -f unlimited"):
        check(ONE, files=ONE - 1024)


def test_too_few_open_files_are_refused_with_the_command():
    with pytest.raises(InputError, match=r"only 64 files open .*\(ulimit -n\), the run needs 128: ulimit -n 1024"):
        check(ONE, descriptors=64)
