"""Names in a packed kernel."""

import pytest
from support.stockkernels import NAMES, PACKS, bzimage, module

from wblab.kernels.stock.take import names, unpacked


@pytest.mark.parametrize("pack", PACKS)
def test_names_are_found_in_the_packed_kernel_and_in_modules(pack):
    found = names(bzimage(pack=PACKS[pack]), [module()])
    assert {"balance_dirty_pages", "block_rq_complete", "ext_event"} <= found
    assert not any(" " in name for name in found)


@pytest.mark.parametrize("pack", PACKS)
def test_the_kernel_is_unpacked_whole(pack):
    assert unpacked(bzimage(pack=PACKS[pack])) == NAMES


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("kept", [0, 8, 0.5])
def test_a_kernel_that_is_cut_off_cannot_be_read(pack, kept):
    def cut(kernel: bytes) -> bytes:
        packed = PACKS[pack](kernel)
        return packed[: int(kept * len(packed)) if kept < 1 else kept]

    with pytest.raises(ValueError, match=r"cut off|packed in a way|cannot be unpacked"):
        unpacked(bzimage(pack=cut, kernel=NAMES * 100))


@pytest.mark.parametrize("pack", PACKS)
def test_a_spoilt_kernel_cannot_be_read(pack):
    def spoil(kernel: bytes) -> bytes:
        packed = PACKS[pack](kernel)
        return packed[:10] + bytes(byte ^ 0xA5 for byte in packed[10:])

    with pytest.raises(ValueError, match=r"cut off|cannot be unpacked"):
        unpacked(bzimage(pack=spoil, kernel=NAMES * 100))


@pytest.mark.parametrize("length", [0, 100, 0x1F2, 0x24A, 0x24F])
def test_an_image_without_a_whole_head_cannot_be_read(length):
    with pytest.raises(ValueError, match="cut off"):
        unpacked(bzimage()[:length])


def test_an_unknown_packing_is_said():
    with pytest.raises(ValueError, match="packed in a way that the lab does not know"):
        unpacked(bzimage(pack=lambda kernel: b"LZ4!" + kernel))
