"""Checks of a spec before anything boots."""

import re
from collections.abc import Mapping

from wblab.core.diskcheck import MAX_KERNEL, check_disks
from wblab.core.errors import InputError, nearest
from wblab.core.parameters import check_argv, check_iolevel
from wblab.core.spec import Cgroup, Spec, Trace
from wblab.core.units import format_bytes, format_time

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CGROUP_FILE = re.compile(r"(cpu|cpuset|io|memory|pids)\.[a-z]+(\.[a-z_]+)*")
ROOT_GROUP = "root"
DISK_NUMBER = re.compile(r"\{disk(?:\.([^{}]*))?\}")
EVENT = re.compile(r"[A-Za-z0-9_*]+(:[A-Za-z0-9_*]+)?")

MIN_MEMORY = 32 << 20  # with less, programs have no room beside what is dirty
DIRTY_SYSCTLS = (
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.dirtytime_expire_seconds",
)


def check_spec(spec: Spec) -> None:
    """Raise InputError, naming the key and the next step, for a spec that cannot run."""
    check_name(spec.name, "name")
    if not 0 <= spec.seed < 2**63:
        raise InputError(f"seed: {spec.seed} is not between 0 and 2^63 - 1: choose another")
    if spec.memory < MIN_MEMORY:
        raise InputError(f"memory: {format_bytes(spec.memory)} is too small: give at least {format_bytes(MIN_MEMORY)}")
    _check_sysctls(spec.sysctl, "sysctl")
    _check_trace(spec.trace)
    if not spec.load:
        raise InputError("load: the spec has no load: add at least one table [load.NAME]")
    for name, load in spec.load.items():
        check_name(name, "load")
        load.check(f"load.{name}.")
        if load.role == "offender" and load.idle_ns(0) > spec.time_limit and not spec.ends_at_time_limit:
            limit = format_time(spec.time_limit)
            raise InputError(f"load.{name}.wait ends after time_limit, {limit}: lower it or raise time_limit")
    if spec.clock.syscall_cost > MAX_KERNEL:
        raise InputError(f"clock.syscall_cost: {format_time(spec.clock.syscall_cost)} is too long: give at most 4s")
    check_disks(spec)
    _check_phases(spec)
    _check_order(spec)
    _check_cgroups(spec, spec.cgroup)
    for name, agent in spec.agent.items():
        check_name(name, "agent")
        check_argv(f"agent.{name}.argv", agent.argv)


def _check_trace(trace: Trace) -> None:
    for event in trace.events:
        if not EVENT.fullmatch(event):
            raise InputError(
                f"trace.events: {event!r} is not of the form system:event: write for example block:block_rq_issue"
            )
    for key, texts in (("filters", trace.filters), ("triggers", trace.triggers)):
        for event, text in texts.items():
            if event not in trace.events:
                raise InputError(f"trace.{key}: {event!r} is not in trace.events{nearest(event, list(trace.events))}")
            if not text.isprintable() or not text.strip():
                example = "prev_state != 0" if key == "filters" else "stacktrace"
                raise InputError(
                    f"trace.{key}: {text!r} of {event} is empty or unprintable: write for example {example}"
                )


def check_name(name: str, key: str) -> None:
    """Raise InputError for a name that cannot be part of a file name."""
    if not NAME.fullmatch(name):
        raise InputError(f"{key}: {name!r} is not a valid name: use at most 64 letters, digits, '.', '_' and '-'")


def disk_number(text: str, numbers: Mapping[str, str], key: str) -> str:
    """Replace `{disk}` by the first disk's number and `{disk.NAME}` by that disk's. Raises InputError.

    numbers: major:minor by the disk's name, in the order of the spec.
    """

    def number(match: re.Match[str]) -> str:
        name = next(iter(numbers)) if match[1] is None else match[1]
        if name not in numbers:
            raise InputError(f"{key}: no disk {name!r}{nearest(name, list(numbers))}: choose from {', '.join(numbers)}")
        return numbers[name]

    return DISK_NUMBER.sub(number, text)


def _check_sysctls(sysctls: Mapping[str, int | str], place: str) -> None:
    for key in sysctls:
        if key.startswith("vm.dirty") and key not in DIRTY_SYSCTLS:
            raise InputError(f"{place}: unknown key {key!r}{nearest(key, DIRTY_SYSCTLS)}")
        if not re.fullmatch(r"[a-z0-9_-]+(\.[A-Za-z0-9_-]+)+", key):
            raise InputError(f"{place}: {key!r} is not a sysctl key: write for example vm.dirty_bytes")
    for stem in ("vm.dirty", "vm.dirty_background"):
        if sysctls.get(f"{stem}_bytes") and sysctls.get(f"{stem}_ratio"):
            raise InputError(f"{place}: {stem}_bytes and {stem}_ratio exclude each other: keep one")


def _check_phases(spec: Spec) -> None:
    for name, phase in spec.phase.items():
        check_name(name, "phase")
        if not 0 <= phase.at <= spec.time_limit:
            raise InputError(f"phase.{name}.at: {format_time(phase.at)} is not between 0 and time_limit: change it")
        _check_sysctls(phase.sysctl, f"phase.{name}.sysctl")
        for key, named, known in (
            ("disk", list(phase.disk), list(spec.disk)),
            ("load", list(phase.load), list(spec.load)),
        ):
            for each in named:
                if each not in known:
                    wrong = f"phase.{name}.{key}: no {key} {each!r}{nearest(each, known)}"
                    raise InputError(f"{wrong}: choose from {', '.join(known)}")
        for load, priority in phase.load.items():
            check_iolevel(f"phase.{name}.load.{load}.", priority.iolevel)
        _check_cgroups(spec, phase.cgroup, f"phase.{name}.")


def _check_cgroups(spec: Spec, groups: Mapping[str, Cgroup], place: str = "") -> None:
    """Raise InputError for invalid control groups; `place` is the prefix of their keys in messages."""
    owner: dict[str, str] = {}
    for name, group in groups.items():
        check_name(name, f"{place}cgroup")
        key = f"{place}cgroup.{name}"
        for load in group.loads:
            if load not in spec.load:
                known, wrong = list(spec.load), f"{key}.loads: no load {load!r}"
                raise InputError(f"{wrong}{nearest(load, known)}: choose from {', '.join(known)}")
            if load in owner:
                raise InputError(f"{key}.loads: {load!r} is already in cgroup.{owner[load]}: name it in one group only")
            owner[load] = name
        if name == ROOT_GROUP and group.loads:
            raise InputError(f"{key}.loads: the root group holds every load that no other group names: leave it out")
        for file in group.files:
            match = CGROUP_FILE.fullmatch(file)
            if not match:
                raise InputError(f"{key}.files: {file!r} is not a controller's file: write for example memory.max")
            if match[1] == "io":
                _check_io(spec, f"{key}.files: {file!r}")
            disk_number(str(group.files[file]), dict.fromkeys(spec.disk, ""), f"{key}.files.{file}")


def _check_io(spec: Spec, key: str) -> None:
    for name, disk in spec.disk.items():
        if disk.model == "throttle":
            raise InputError(f"{key} needs {spec.disk_key(name)}.model = 'device': the throttle uses the io controller")


def _check_order(spec: Spec) -> None:
    if not spec.offenders:
        raise InputError(
            "load: the spec has no offender, whose end ends the run: add a load of kind 'load' or 'command'"
        )
    for key in ("stop_order", "may_fail"):
        for name in getattr(spec, key):
            if name not in spec.load:
                known, wrong = list(spec.load), f"{key}: no load {name!r}"
                raise InputError(f"{wrong}{nearest(name, known)}: choose from {', '.join(known)}")
    for name in spec.stop_order:
        if name in spec.offenders:
            raise InputError(f"stop_order: {name!r} is an offender, which ends by itself: leave it out")
