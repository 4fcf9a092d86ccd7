"""The features and events of a kernel, from its executable."""

import gzip
from pathlib import Path

import pytest

from wblab.kernels import Kernel, features, kernel, sort_events

BANNER = b"\0Linux version 6.12.1 (wblab@localhost) (gcc 12.2.0, GNU ld 2.40) #1 then\0umid=\0"
OLD = b"tt_syscall_ns\0um_seed\0block\0writeback\0balance_dirty_pages\0global_dirty_state\0not_sched\0"
NEW = OLD + b"syscalls\0raw_syscalls\0sys_enter_openat\0sys_enter\0"
ASKED = ("writeback:balance_dirty_pages", "syscalls:sys_enter_openat", "raw_syscalls:*", "syscalls")


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def make(strings: bytes) -> Kernel:
        path = tmp_path / "linux"
        path.write_bytes(b"\x7fELF" + BANNER + strings + b"IKCFG_ST" + gzip.compress(b"") + b"IKCFG_ED")
        return kernel.inspect(path)

    return make


def test_features_are_found_in_a_kernel_s_strings(make) -> None:
    assert [*features(make(OLD))] == ["syscall-cost", "seed"]
    assert [*features(make(NEW))] == ["syscall-cost", "seed", "syscall-events"]


def test_events_missing_in_some_kernels_are_left_out_and_named(make) -> None:
    assert sort_events(make(NEW), ASKED).left_out == ()
    events = sort_events(make(OLD), ASKED)
    assert (events.traced, events.left_out, events.unknown) == (ASKED[:1], ASKED[1:], ())


@pytest.mark.parametrize(
    ("event", "known"),
    [
        ("writeback:balance_dirty_pages", True),
        ("writeback:*", True),
        ("*:balance_dirty_pages", True),
        ("balance_dirty_pages", True),
        ("block", True),
        ("writeback:balance_dirty_page", False),
        ("writebak:balance_dirty_pages", False),
        ("sched", False),
        ("syscalls:sys_enter_openat", True),
    ],
)
def test_misspelt_events_are_unknown(make, event: str, known: bool) -> None:
    assert sort_events(make(OLD), [event]).unknown == (() if known else (event,))
