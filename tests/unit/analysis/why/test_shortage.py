"""Whose memory is written to swap, and who took memory, from the events of a trace."""

import numpy as np

from wblab.analysis.why.classify import judged
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.memorypages import Pages, swap_owners
from wblab.analysis.why.shortage import Shortage
from wblab.core.units import Bytes

KSWAPD, EDITOR, BROWSER = 40, 50, 60
FAULT = ("do_swap_page", "__handle_mm_fault", "handle_mm_fault", "handle_page_fault", "segv", "userspace")
RECLAIM = ("swap_writeout", "shrink_folio_list", "shrink_lruvec", "try_to_free_pages", "__alloc_frozen_pages_noprof")
READ = ("folio_unlock", "end_swap_bio_read", "blk_update_request", "blk_mq_end_request")


def column(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(values, np.int64)


def test_a_bio_that_writes_memory_is_of_whom_its_task_last_unmapped_a_page() -> None:
    out = Pages(
        column(10, 20, 30), column(EDITOR, BROWSER, EDITOR), column(4096, 4096, -4096), column(KSWAPD, BROWSER, KSWAPD)
    )
    pid = column(KSWAPD, BROWSER, KSWAPD, KSWAPD, 70)
    rank = column(11, 21, 22, 31, 12)
    # The third bio follows another of its task without a page unmapped, and before the fourth one was read back.
    assert swap_owners(out, pid, rank, np.ones(5, bool)).tolist() == [EDITOR, BROWSER, NOBODY, NOBODY, NOBODY]
    assert swap_owners(out, pid, rank, np.zeros(5, bool)).tolist() == [NOBODY] * 5


def test_a_task_that_waits_for_swapped_memory_is_told_from_one_that_waits_for_a_file() -> None:
    asleep = ("__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "__folio_lock_or_retry")
    assert judged((*asleep, *FAULT), READ).kind.name == "swap-in"
    assert judged((*asleep, "filemap_fault", "__do_fault"), READ).kind.name == "folio locked"


def test_a_task_that_writes_memory_to_swap_is_told_from_one_that_writes_a_file() -> None:
    asleep = ("__schedule", "schedule", "io_schedule", "blk_mq_get_tag", "blk_mq_submit_bio", "submit_bio")
    ends = ("autoremove_wake_function", "sbitmap_queue_wake_up", "blk_mq_put_tag", "blk_mq_end_request")
    assert judged((*asleep, *RECLAIM), ends).kind.name == "swap-out"
    assert judged((*asleep, "ext4_bio_write_folio", "ext4_writepages"), ends).kind.name == "request"
    pool = ("__schedule", "schedule", "io_schedule_timeout", "mempool_alloc_noprof", "bio_alloc_bioset", *RECLAIM)
    assert judged(pool, ("mempool_free", "bio_free", "bio_put", "end_swap_bio_write")).kind.name == "swap-out"


def test_who_took_most_memory_is_named_whatever_it_is_for() -> None:
    own, cache = {"browser": Bytes(60 << 20), "editor": Bytes(1 << 20)}, {"l1": Bytes(9 << 20)}
    assert Shortage(own=own, cache=cache).named == ("browser",)
    assert Shortage(own={}, cache=cache).named == ("l1",)
    assert Shortage().named == ()
