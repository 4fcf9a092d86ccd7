"""layouts.json is read back, and a damaged one is refused with a reason."""

import json
from dataclasses import asdict

import pytest
from support.runs import write_run

from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.layouts import Layout, Region

LAYOUT = Layout(1024, 256, 8, (Region("superblock", -1, 1, 1), Region("inode table", 0, 5, 2)))


@pytest.fixture
def path(tmp_path):
    return write_run(tmp_path / "run", {"mw1": [0, 1, 2]})


def written(path, content):
    (path / "layouts.json").write_text(json.dumps(content))
    return read_run(path)


def test_layouts_are_read_back_by_disk(path):
    assert read_run(path).layouts == {}
    run = written(path, {"disk": asdict(LAYOUT)})
    assert run.layouts == {"disk": LAYOUT}
    assert [list(LAYOUT.inodes(block)) for block in (1, 4, 5, 6, 7)] == [[], [], [1, 2, 3, 4], [5, 6, 7, 8], []]


@pytest.mark.parametrize(
    "change",
    [
        {"block_bytes": 0},
        {"inode_bytes": 1 << 40},
        {"group_inodes": "8"},
        {"regions": [{"what": "\u001b[2J", "group": 0, "first": 1, "count": 1}]},
        {"regions": [{"what": "journal", "group": 0, "first": -1, "count": 1}]},
        {"regions": [{"what": "journal", "group": 0, "first": at, "count": 1} for at in (2, 1)]},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_layout_is_refused(path, change):
    run = written(path, {"disk": asdict(LAYOUT) | change})
    with pytest.raises(InputError, match=r"layouts\.json is damaged"):
        run.layouts  # noqa: B018 - reads it


def test_a_layout_of_another_disk_is_refused(path):
    with pytest.raises(InputError, match="does not fit the spec"):
        written(path, {"disk.other": asdict(LAYOUT)}).layouts  # noqa: B018 - reads it
