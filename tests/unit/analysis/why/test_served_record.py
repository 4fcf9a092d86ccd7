"""The record of a server's requests: read back, and refused if it is damaged."""

from array import array
from dataclasses import dataclass
from pathlib import Path

import pytest

from wblab.analysis.why.servedrecord import columns_of, read_served
from wblab.core.errors import InputError
from wblab.core.npy import head, write_int64
from wblab.core.rundir import SERVED_COLUMNS


@dataclass(frozen=True)
class Made:
    """As much of a run as is read here."""

    path: Path


def test_requests_are_read_by_column(tmp_path):
    write_int64(tmp_path / "served.nas.npy", array("q", range(2 * len(SERVED_COLUMNS))))
    column = columns_of(read_served(Made(tmp_path), "nas"))
    assert column["unique"].tolist() == [0, len(SERVED_COLUMNS)]
    assert column["gone_ns"].tolist() == [len(SERVED_COLUMNS) - 1, 2 * len(SERVED_COLUMNS) - 1]


@pytest.mark.parametrize(
    "content",
    [b"", b"no array", head(9) + bytes(8), head(8) + bytes(64), head(9) + b"\xff" * 72, head(18) + bytes(72)],
)
def test_a_damaged_record_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "served.nas.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"served.nas.npy is damaged"):
        read_served(Made(tmp_path), "nas")


def test_a_missing_record_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*served.nas.npy"):
        read_served(Made(tmp_path), "nas")
