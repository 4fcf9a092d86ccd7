from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wblab.core.npy import write_int64


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_numpy_reads_the_written_array(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "values.npy"
    write_int64(path, array("q", values))
    read = np.load(path, allow_pickle=False)
    assert read.dtype == np.dtype("<i8")
    assert read.shape == (len(values),)
    assert read.tolist() == values


@pytest.mark.parametrize("count", [0, 1, 9, 10, 99_999, 100_000])
def test_the_data_is_aligned_and_can_be_mapped(tmp_path, count):
    write_int64(tmp_path / "values.npy", array("q", range(count)))
    assert ((tmp_path / "values.npy").stat().st_size - 8 * count) % 64 == 0
    if count:
        mapped = np.load(tmp_path / "values.npy", mmap_mode="r", allow_pickle=False)
        assert mapped[-1] == count - 1
        assert mapped.offset % 64 == 0


def test_the_file_equals_numpy_s(tmp_path):
    write_int64(tmp_path / "ours.npy", array("q", range(1000)))
    np.save(tmp_path / "theirs.npy", np.arange(1000, dtype="<i8"))
    ours, theirs = np.load(tmp_path / "ours.npy"), np.load(tmp_path / "theirs.npy")
    assert np.array_equal(ours, theirs)
    assert (tmp_path / "ours.npy").read_bytes()[:10] == (tmp_path / "theirs.npy").read_bytes()[:10]
