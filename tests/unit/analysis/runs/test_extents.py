"""extents.json is read back, a damaged one is refused, and the quality of the layout is computed."""

import json
import shutil
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from support.runs import write_run_of

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.fileextents import layout_index, layout_metrics
from wblab.analysis.runs.metrics import metric_rows
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.core.fiemap import Extent
from wblab.core.loads import Chunks
from wblab.core.rundir import FileRecord, write_extents
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

BLOCK = 4096
RECORD = FileRecord(8 * BLOCK, BLOCK, (Extent(0, 5 * BLOCK, BLOCK), Extent(BLOCK, 100 * BLOCK, 7 * BLOCK)))


def file(*runs):
    """Return a file with these blocks of its disk, (first, count)."""
    pieces, at = [], 0
    for first, count in runs:
        pieces.append(Extent(at, first * BLOCK, count * BLOCK))
        at += count * BLOCK
    return FileRecord(at, BLOCK, tuple(pieces))


@pytest.fixture
def path(tmp_path):
    spec = read_spec(SPECS.find("base"))
    spec = replace(spec, load={"l1": Chunks(file="f", wait=0, size=8 * BLOCK), "mw1": spec.load["mw1"]})
    return write_run_of(spec, tmp_path / "run", {"l1": [0, 1, 2], "mw1": [0, 1]})


def test_extents_are_read_back(path):
    assert read_run(path).files == {}
    write_extents(path, {"l1": {"f": RECORD}})
    assert read_run(path).files == {"l1": {"f": RECORD}}


def test_layout_metrics_are_among_the_load_s_metrics(path):
    write_extents(path, {"l1": {"f": RECORD}})
    found = {metric: value for load, _, metric, value in metric_rows(read_run(path)) if load == "l1"}
    assert (found["dspan_bytes"], found["extents"]) == (102 * BLOCK, 2)
    assert list(found)[-3:] == ["dspan_bytes", "extents", "layout_index"]


@pytest.mark.parametrize(
    "content",
    [
        [], {"l2": {}}, {"mw1": {}}, {"l1": []}, {"l1": {"other": {}}}, {"l1": {"f": {}}}, {"l1": {"f": None}},
        *(
            {"l1": {"f": {"size": 8192, "block": 4096, "extents": [[0, 4096, 8192]]} | change}}
            for change in (
                {"size": -1}, {"size": "8192"}, {"size": True}, {"block": 0}, {"block": 1 << 40}, {"more": 1},
                {"extents": 3}, {"extents": [[0, 4096]]}, {"extents": [["0", 0, 512]]}, {"extents": [[0, 0, 0]]},
                {"extents": [[0, -512, 512]]}, {"extents": [[0, 1, 512]]}, {"extents": [[0, 1 << 62, 512]]},
                {"extents": [[0, 0, 1.5]]}, {"extents": [[4096, 0, 4096], [0, 8192, 4096]]},
            )
        ),
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_file_is_refused(path, content):
    (path / "extents.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"extents\.json is damaged") as error:
        read_run(path).files  # noqa: B018 - reads it
    assert "\n" not in str(error.value)


def test_the_span_is_the_largest_of_all_files():
    files = {"a": file((10, 1), (3, 1)), "b": file((1000, 2), (1003, 8))}
    assert layout_metrics(files)["dspan_bytes"] == 11 * BLOCK
    assert layout_metrics(files)["extents"] == 4


@pytest.mark.parametrize("files", [{}, {"a": file()}])
def test_without_extents_there_are_no_metrics(files):
    assert layout_metrics(files) == {}


def test_a_contiguous_file_has_the_best_index():
    assert layout_index([Extent(0, 7 * BLOCK, 64 * BLOCK)]) == 1
    assert layout_index([Extent(0, 0, 512)]) == 1
    assert layout_index([Extent(0, 8 * BLOCK, BLOCK), Extent(BLOCK, 7 * BLOCK, BLOCK)]) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_index_is_the_mean_distance_between_sectors(seed):
    draw = Random(seed)
    starts = draw.sample(range(60), 6)
    pieces = [Extent(4096 * place, 512 * 3 * start, 512 * draw.randint(1, 5)) for place, start in enumerate(starts)]
    sectors = {
        sector for item in pieces for sector in range(item.physical // 512, (item.physical + item.length) // 512)
    }
    paths = [abs(one - two) for one, two in combinations(sectors, 2)]
    assert layout_index(pieces) == pytest.approx(sum(paths) / len(paths) / ((len(sectors) + 1) / 3), rel=1e-12)


def test_the_index_is_fast_on_large_disks():
    assert layout_index([Extent(0, 0, 1 << 59), Extent(1 << 59, 1 << 59, 1 << 59)]) == 1


def test_runs_with_files_at_other_places_differ(path, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(path, other)
    write_extents(path, {"l1": {"f": RECORD}})
    write_extents(other, {"l1": {"f": file((5, 1), (200, 7))}})
    first, second = read_run(path), read_run(other)
    (found,) = first_differences(first, second)
    assert found.what == "places of l1's files on the disk"
    assert (found.first, found.second) == (
        ("f: 4096 B at 20480, 28672 B at 409600",),
        ("f: 4096 B at 20480, 28672 B at 819200",),
    )
    assert digest(first) != digest(second)
    write_extents(other, {"l1": {"f": RECORD}})
    assert first_differences(first, read_run(other)) == []
    assert digest(first) == digest(read_run(other))
