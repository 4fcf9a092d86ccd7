"""The features and events of a kernel, from its executable."""

import gzip
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import Kernel, features, kernel, sort_events
from wblab.kernels.features import on_processors

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


def built_for(config: Path | None) -> Kernel:
    return Kernel(Path("linux"), config, "7.3", "7.3.0", "", (), "f00", "a source", "gcc 12")


@pytest.fixture
def several(tmp_path: Path) -> Kernel:
    config = tmp_path / "config"
    config.write_text("CONFIG_SMP=y\nCONFIG_NR_CPUS=8\n")
    return built_for(config)


def test_a_kernel_runs_on_as_many_as_it_was_built_for(several: Kernel) -> None:
    assert [on_processors(several, number, "7.3+smp").processors for number in (1, 2, 8)] == [1, 2, 8]
    with pytest.raises(
        InputError, match=r"^kernel 7\.3\+smp@9: it was built for at most 8 processors: give @8 or fewer$"
    ):
        on_processors(several, 9, "7.3+smp@9")


@pytest.mark.parametrize("text", ["# CONFIG_SMP is not set\nCONFIG_NR_CPUS=1\n", "", None])
def test_a_kernel_for_one_processor_gets_no_more(tmp_path: Path, text: str | None) -> None:
    config = tmp_path / "config"
    if text is not None:
        config.write_text(text)
    for single in (built_for(config), built_for(None)):
        assert on_processors(single, 1, "7.3").processors == 1
        with pytest.raises(InputError, match=r"^kernel 7\.3@4: it was built for one processor: .* 7\.2\+smp@4 .*build"):
            on_processors(single, 4, "7.3@4")
