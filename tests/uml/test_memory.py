"""A guest leaves its loads the memory that its spec says, whatever its kernel and its set-up take."""

import pytest

from wblab.analysis.runs.pagecache import page_cache
from wblab.host.guestmemory import boot_bytes
from wblab.host.recorded import RunFailedError

MIB = 1 << 20
SHORT = ("load.l1.wait=1s", "load.l1.size=2MiB", "load.l2.wait=2s", "load.l2.size=1MiB")
# What takes memory before the loads start: other filesystems, larger buffers of the trace, more loads.
SET_UPS = {
    "as it is": (),
    "ext2": ("disk.filesystem=ext2", "disk.mkfs_options=[]"),
    "a buffer of 40 MiB": ("trace.buffer=40MiB",),
    "twelve more loads": tuple(f"load.x{one}={{kind='write', file='x{one}', idle='1s'}}" for one in range(12)),
}


@pytest.mark.parametrize("settings", SET_UPS.values(), ids=SET_UPS)
@pytest.mark.parametrize("memory", [32 * MIB, 100 * MIB])
def test_the_loads_have_the_specs_memory_to_the_page(shared_lab, settings, memory):
    run = shared_lab.run("base", *SHORT, *settings, f"memory={memory}")
    assert run.record["memory"]["available_bytes"] == memory
    assert run.record["memory"]["reserved_bytes"] > 16 * MIB  # of the room for the set-up, some was left


def test_the_limits_are_shares_of_it(shared_lab):
    run = shared_lab.run("base", *SHORT)
    state = page_cache(run).dirty_state
    first = (state.ts_ns >= run.zero_ns).argmax()
    # Free pages in the processor's own list count as available here, not for the kernel: at most a few hundred.
    assert 0.985 * 0.2 * run.spec.memory < state.threshold[first] <= 0.2 * run.spec.memory
    assert 0.985 * 0.1 * run.spec.memory < state.background[first] <= 0.1 * run.spec.memory


def test_a_guest_whose_set_up_takes_too_much_fails_with_the_reason(lab, monkeypatch):
    monkeypatch.setattr("wblab.host.command.boot_bytes", lambda *given: boot_bytes(*given) - 150 * MIB)
    with pytest.raises(RunFailedError, match=r"memory: .* is available in the guest, not 1\d\d"):
        lab.run("base", *SHORT)
    assert lab.left_behind() == []


def test_a_program_that_takes_all_memory_is_killed_and_named(lab):
    takes = "b = bytearray(110 << 20)[::4096]; import time; time.sleep(5)"
    with pytest.raises(RunFailedError, match=r"The kernel killed \w+ at .*, as the machine's memory was full"):
        lab.run("base", f"memory={100 * MIB}", f"load.l3={{kind='command',wait='2s',argv=['python3','-c','{takes}']}}")
    assert lab.left_behind() == []


def test_the_limit_starts_as_on_a_machine_booted_with_36_mib_more(shared_lab):
    run = shared_lab.run("base", *SHORT, f"memory={100 * MIB}")
    state = page_cache(run).dirty_state
    first = (state.ts_ns >= run.zero_ns).argmax()
    assert 0.2 * 135 * MIB < state.limit[first] < 0.2 * 143 * MIB  # with the trace's buffer of a few MiB
