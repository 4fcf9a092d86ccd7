"""Which modules are loaded, and in which order, from what each says of itself."""

import gzip
import lzma

import pytest
import zstandard
from support.stockkernels import module, modules

from wblab.core.errors import InputError
from wblab.kernels.stock.modules import Modules, needs


@pytest.fixture
def there(tmp_path):
    """Return a function that writes modules and returns them."""
    return lambda files, builtin="": Modules(modules(tmp_path / "7.2", files, builtin))


def test_a_module_comes_after_those_that_it_needs(there):
    found = there(
        {
            "fs/ext4.ko": module(depends="jbd2,mbcache", softdep="pre: crc32c"),
            "fs/jbd2.ko": module(depends=""),
            "fs/mbcache.ko": module(depends=""),
            "lib/crc32c.ko": module(),
            "fs/xfs.ko": module(depends="jbd2"),
        }
    )
    order = list(found.ordered(["ext4"]))
    assert order == ["jbd2", "mbcache", "crc32c", "ext4"]
    assert found.ordered(["ext4", "jbd2", "ext4"]).keys() == set(order)


def test_what_a_module_says_of_itself_is_read():
    assert needs(module(depends="a,b-c", softdep="pre: d e post: f")) == (["a", "b_c"], ["d", "e"])
    assert needs(module(depends="", softdep="post: f")) == ([], [])
    assert needs(module(softdep="post: f pre: d")) == ([], ["d"])
    assert needs(b"") == ([], [])


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress), (".zst", zstandard.compress)]
)
def test_packed_modules_are_unpacked(there, suffix, pack):
    content = module(depends="")
    found = there({f"block/null-blk.ko{suffix}": pack(content), "block/bfq.ko": content})
    assert found.ordered(["null_blk", "bfq"]) == {"null_blk": content, "bfq": content}


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress), (".zst", zstandard.compress)]
)
@pytest.mark.parametrize("spoilt", [lambda data: data[:-5], lambda data: data[:12] + b"spoilt" * 9, lambda data: b"x"])
def test_a_damaged_module_is_named(there, suffix, pack, spoilt):
    found = there({f"fs/ext4.ko{suffix}": spoilt(pack(module(depends="") * 50))})
    with pytest.raises(InputError, match=rf"fs/ext4\.ko\{suffix} is damaged: .*: install the kernel's package again"):
        found.ordered(["ext4"])


def test_a_module_that_cannot_be_read_is_named(there, tmp_path):
    found = there({})
    (tmp_path / "7.2/ext4.ko").mkdir()
    with pytest.raises(InputError, match=r"cannot read .*ext4\.ko: it is not a regular file"):
        found.ordered(["ext4"])


def test_a_missing_module_is_an_error_only_where_it_is_known_not_to_be_built_in(there):
    assert there({}, builtin=None).ordered(["ext4"]) == {}
    with pytest.raises(InputError, match="has no module ext4"):
        there({}).ordered(["ext4"])
    assert there({}, builtin="fs/ext4 lib/crc-ccitt").ordered(["ext4", "crc_ccitt"]) == {}


def test_a_missing_soft_dependency_is_none(there):
    assert list(there({"ext4.ko": module(softdep="pre: gone")}).ordered(["ext4"])) == ["ext4"]


def test_modules_that_want_each_other_are_loaded_once(there):
    circle = {"a.ko": module(depends="b"), "b.ko": module(softdep="pre: c"), "c.ko": module(depends="a,c")}
    assert list(there(circle).ordered(["a"])) == ["c", "b", "a"]


def test_an_update_takes_the_place_of_the_kernels_own_module(there, tmp_path):
    found = there({"ext4.ko": module(depends="old")})
    (tmp_path / "7.2/updates").mkdir()
    (tmp_path / "7.2/updates/ext4.ko").write_bytes(module())
    assert list(found.ordered(["ext4"])) == ["ext4"]
