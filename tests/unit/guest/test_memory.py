"""The pages that may be dirty, from /proc/zoneinfo, and the memory of the guest's machine."""

from dataclasses import replace

import pytest

from wblab.core.spec import Trace
from wblab.guest.memory import dirtyable_pages
from wblab.host.guestmemory import boot_bytes
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

ZONEINFO = """\
Node 0, zone   Normal
  per-node stats
      nr_inactive_anon 500
      nr_active_anon 7
      nr_inactive_file 2000
      nr_active_file 300
      nr_unevictable 9
  pages free     10000
        boost    0
        min      384
        low      480
        high     576
        spanned  38400
        protection: (0, 0)
      nr_free_pages 10000
      nr_zone_inactive_file 2000
      nr_zone_active_file 300
  pagesets
    cpu: 0
              count:    17
              high:     186
              batch:    31
  node_unreclaimable:  0
Node 0, zone  Movable
  pages free     0
        high     0
        protection: (0, 0)
"""


def test_free_pages_above_the_watermark_and_page_cache_may_be_dirty():
    assert dirtyable_pages(ZONEINFO) == 10000 + 17 - 576 + 2000 + 300


def test_pages_kept_for_lower_zones_may_not():
    assert dirtyable_pages(ZONEINFO.replace("protection: (0, 0)", "protection: (0, 40)", 1)) == 11741 - 40


def test_no_fewer_than_none_are_free():
    assert dirtyable_pages(ZONEINFO.replace("high     576", "high     20000")) == 2300


@pytest.mark.parametrize("memory", [64 << 20, 150 << 20, 8 << 30])
def test_a_guest_has_its_memory_what_the_kernel_takes_and_the_traces_buffer(memory):
    spec = replace(read_spec(SPECS.find("base")), memory=memory, trace=Trace())
    traced = replace(spec, trace=Trace(events=("block:block_bio_queue",), buffer=100 << 20))
    assert boot_bytes(spec) % (1 << 20) == 0
    assert boot_bytes(spec) >= memory + memory // 64 + (32 << 20)
    assert 100 << 20 <= boot_bytes(traced) - boot_bytes(spec) <= 102 << 20
