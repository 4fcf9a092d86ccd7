"""One set of events explains pauses; a spec's own events are kept."""

from dataclasses import replace

import pytest

from wblab.core.check import EVENT, check_spec
from wblab.host.request import BUFFER, EVENTS, blamed, is_wanted
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec


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
    assert blamed(base(f"load={{{loads}}}")).filters == {}


def test_names_of_files_are_traced_only_where_programs_run():
    assert not [event for event in blamed(base()).events if event.startswith("syscalls:")]
    trace = blamed(base("load.r1={kind='repeat', argv=['true'], idle='1s'}"))
    assert {"syscalls:sys_enter_openat", "syscalls:sys_exit_openat", "syscalls:sys_enter_unlink"} < set(trace.events)
    assert trace.filters["syscalls:sys_enter_openat"] == f"flags & {0o1 | 0o2 | 0o100}"
