"""Names of this machine as a place for runs."""

import json
import os
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import features, full_name, has_virtual_time
from wblab.kernels.here import find, is_here


@pytest.mark.parametrize(
    ("name", "directories", "limits"),
    [
        ("live:/srv", {"": "/srv"}, False),
        ("live+limits:/srv", {"": "/srv"}, True),
        ("live:slow=/a,fast=/b", {"slow": "/a", "fast": "/b"}, False),
        ("live:slow=/a,b,fast=/c=d", {"slow": "/a,b", "fast": "/c=d"}, False),
        ("live:/a,b", {"": "/a,b"}, False),
        ("live:/mnt/a@4+x=y", {"": "/mnt/a@4+x=y"}, False),
        ("live:/a/../b/", {"": "/b"}, False),
    ],
)
def test_a_name_has_a_directory_for_each_disk(name, directories, limits):
    found = find(name)
    assert is_here(name)
    assert (dict(found.directories), found.limits) == ({disk: Path(path) for disk, path in directories.items()}, limits)
    assert full_name(full_name(name)) == full_name(name)
    assert find(full_name(name)) == found


def test_a_relative_directory_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert full_name("live:here") == f"live:{tmp_path}/here"
    assert full_name("live:~/x") == f"live:{Path.home()}/x"


@pytest.mark.parametrize("name", ["live:", "live+limits:", "live:slow=", "live:slow=/a,slow=/b", "live:a\0b"])
def test_a_bad_name_is_refused_on_one_line(name):
    with pytest.raises(InputError) as error:
        find(name)
    assert "\n" not in str(error.value)


def test_it_is_the_kernel_that_runs_and_says_nothing_of_directories():
    found = find("live:/srv")
    assert found.release == os.uname().release
    assert "/srv" not in json.dumps(found.describe())
    assert found.describe()["processors"] == len(os.sched_getaffinity(0))
    assert not has_virtual_time(found)
    assert features(found) == ()
