"""Requests are made or refused before anything boots. The tests provide resolvers with invented kernels."""

from dataclasses import replace

import pytest

from wblab.core.errors import InputError
from wblab.host.request import Request, notes, ready, suited
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
