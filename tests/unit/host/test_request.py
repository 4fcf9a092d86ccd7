"""Requests are made or refused before anything boots. The tests provide resolvers with invented kernels."""

from dataclasses import replace

import pytest

from wblab.core.check import EVENT, check_spec
from wblab.core.errors import InputError
from wblab.host.request import BUFFER, EVENTS, Request, blamed, is_wanted, notes, ready, suited
from wblab.kernels import Kernel
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec

OLD = ("tt_syscall_ns", "um_seed", "writeback", "balance_dirty_pages", "global_dirty_state")
OPENS = ("syscalls:sys_enter_openat", "syscalls:sys_exit_openat")


def asking(*events):
    """A spec that traces these events, without those that explain pauses."""
    return read_spec(
        PRESETS / "base.toml", [f"trace.events={[*events]}".replace("'", '"'), 'kernel="6.12"', "trace.blame=never"]
    )


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "linux"
    path.write_text("\0".join(["", *OLD, ""]))
    return Kernel(path, None, "6.12", "6.12.1", "", ("a.patch",), "f00", "source", "gcc")


def fine(spec):
    """Check nothing of this machine."""


def test_a_run_uses_the_kernel_of_its_spec(kernel):
    spec = asking("writeback:balance_dirty_pages")
    assert ready(spec, {"6.12": kernel}.__getitem__, fine) == Request(spec, kernel)


def test_an_invalid_spec_is_refused_before_the_kernel_is_resolved():
    with pytest.raises(InputError, match="memory"):
        ready(replace(asking(), memory=1), lambda name: pytest.fail("it was looked for"))


def test_the_resolver_s_reason_for_a_missing_kernel_is_reported():
    def empty(name):
        raise InputError(f"no {name}")

    with pytest.raises(InputError, match=r"no 6\.12"):
        ready(asking(), empty, fine)


def test_events_missing_in_the_kernel_are_left_out_of_the_request(kernel):
    spec = asking("writeback:balance_dirty_pages", *OPENS)
    request = suited(spec, kernel)
    assert (request.spec, request.left_out) == (spec, OPENS)
    assert request.traced == asking("writeback:balance_dirty_pages")


def test_triggers_and_filters_of_a_missing_event_are_left_out(kernel):
    said = ["trace.triggers={'syscalls:sys_enter_openat'='stacktrace', 'writeback:balance_dirty_pages'='stacktrace'}"]
    events = f"trace.events={['writeback:balance_dirty_pages', *OPENS]}".replace("'", '"')
    spec = read_spec(PRESETS / "base.toml", [events, 'kernel="6.12"', "trace.blame=never", *said])
    assert suited(spec, kernel).traced.trace.triggers == {"writeback:balance_dirty_pages": "stacktrace"}


def test_blame_events_that_the_kernel_has_are_traced(kernel):
    with kernel.path.open("a") as linux:
        linux.write("\0".join(["", "sched", "sched_switch", "sys_enter_openat", "raw_syscalls", "sys_enter", ""]))
    spec = read_spec(PRESETS / "base.toml", ['kernel="6.12"'])
    request = suited(spec, kernel)
    traced = request.traced.trace
    assert request.spec.trace == spec.trace
    assert {"sched:sched_switch", "raw_syscalls:sys_enter", *spec.trace.events} == set(traced.events)
    assert "block:block_buffer_wait" in request.left_out
    assert traced.triggers.keys() == {"sched:sched_switch"}
    assert traced.filters == {"raw_syscalls:sys_enter": 'COMM == "c1" || COMM == "w1" || COMM == "mw1"'}


def test_a_misspelt_event_is_refused(kernel):
    with pytest.raises(InputError, match=r"trace\.events: the kernel 6\.12\.1 has no writeback:nothing: correct"):
        suited(asking("writeback:nothing", "syscalls"), kernel)


def test_a_user_s_kernel_must_support_the_run(kernel):
    kernel.path.write_text("um_seed")
    with pytest.raises(InputError, match=r"does not know tt_syscall_ns: build its tree"):
        suited(asking(), replace(kernel, patches=(), build_id="own"))


def test_omitted_events_are_reported_once(kernel):
    requests = [suited(asking(*events), kernel) for events in ([], OPENS[:1], OPENS, OPENS)]
    said = "the kernel 6.12.1 does not have the events syscalls:{sys_enter_openat,sys_exit_openat}: left out of"
    assert notes(requests, landlock=6) == [f"{said} 3 of 4 runs"]
    assert notes(requests[2:], seeds=50, landlock=6) == [f"{said} all 100 runs"]
    assert notes(requests[:1], landlock=6) == []


def test_a_single_run_names_its_omitted_events(kernel):
    (said,) = notes([suited(asking("syscalls", "raw_syscalls:sys_enter"), kernel)], landlock=6)
    assert said == "the kernel 6.12.1 does not have the events syscalls:*, raw_syscalls:sys_enter: left out"


def test_a_host_without_landlock_is_reported_for_local_runs(kernel):
    request = suited(asking(), kernel)
    (said,) = notes([request, request], landlock=0)
    assert "only the guest's kernel protects your files" in said
    assert notes([request], here=False) == []


def base(*settings):
    return read_spec(PRESETS / "base.toml", settings)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ((), True),
        (("clock.mode=real",), False),
        (("clock.mode=real", "trace.blame=always"), True),
        (("trace.blame=never",), False),
        (("trace.events=[]",), False),
    ],
)
def test_blame_events_are_recorded_by_default_with_the_virtual_clock(settings, wanted):
    assert is_wanted(base(*settings)) == wanted


def test_a_spec_can_request_the_blame_events_itself():
    spec = base()
    check_spec(replace(spec, trace=blamed(spec)))
    assert all(EVENT.fullmatch(event) for event in EVENTS)
    assert blamed(spec).buffer == BUFFER > spec.trace.buffer


def test_a_spec_keeps_its_own_events_filters_and_triggers():
    spec = base(
        'trace.events=["raw_syscalls:sys_enter", "sched:sched_switch"]',
        "trace.triggers={'sched:sched_switch'='stacktrace'}",
        "trace.buffer=64M",
    )
    trace = blamed(spec)
    assert trace.events[:2] == spec.trace.events
    assert len(trace.events) == len(set(trace.events))
    assert "raw_syscalls:sys_enter" not in trace.filters  # all system calls, as requested
    assert "raw_syscalls:sys_exit" in trace.filters
    assert trace.triggers["sched:sched_switch"] == "stacktrace"
    assert trace.buffer == spec.trace.buffer


def test_a_load_s_name_is_truncated_as_the_kernel_does():
    spec = base("load={a-load-with-a-long-name={kind='control', idle='50ms'}}")
    assert blamed(spec).filters["raw_syscalls:sys_exit"] == 'COMM == "a-load-with-a-l"'


def test_too_many_loads_for_a_filter_are_not_filtered():
    loads = ", ".join(f"load-number-{number}={{kind='control', idle='50ms'}}" for number in range(41))
    assert not [event for event in blamed(base(f"load={{{loads}}}")).filters if event.startswith("raw_syscalls:")]


def test_folios_are_recorded_if_they_have_several_pages_unless_the_spec_wants_the_whole_system():
    assert blamed(base()).filters["filemap:mm_filemap_add_to_page_cache"] == "order > 0"
    trace = blamed(base("trace.events=['filemap']"))
    assert not [event for event in trace.filters if event.startswith("filemap:")]


def test_names_of_files_are_traced_only_where_programs_run():
    assert not [event for event in blamed(base()).events if event.startswith("syscalls:")]
    trace = blamed(base("load.r1={kind='repeat', argv=['true'], idle='1s'}"))
    assert {"syscalls:sys_enter_openat", "syscalls:sys_exit_openat", "syscalls:sys_enter_unlink"} < set(trace.events)
    assert trace.filters["syscalls:sys_enter_openat"] == f"flags & {0o1 | 0o2 | 0o100}"
