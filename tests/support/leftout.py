"""No test is left out silently: the permitted reasons, and a summary of what was left out.

A test skipped for another reason fails. `--left-out FILE` appends the summary to a file; `make test` prints those of
all its parts at the end.
"""

import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# Regular expressions that match whole reasons: what a machine may lack through no fault of the lab. Dependencies of the
# lab's packages are not among them, except those that some users or distributions cannot install.
PERMITTED = (
    # rights
    r"(.+, which )?needs root\b.*",
    r"only root .*",
    r"an ordinary user may not lock that much memory",
    # the host's kernel, its settings, and containers
    r"the host's kernel has no .*",
    r"the host's Landlock does not know .*",
    r"the host's processor has no .*",
    r"the host's processor has AMX, .*",
    r"this host does not let us trace: .*",
    r"this machine has no user namespaces",
    r"this host cannot fault CPUID: .*",
    r"ptrace is forbidden here",
    r"only Landlock hides the host's memory policy from this Python: .*",
    r"\d+ connections take more open files than this user may have: .*",
    r"cannot mount: .*",
    r"no taskstats here: .*",
    r"no cgroup v2 to write to here",
    r"no kernel threads are to be seen here",
    r"no directory here is on a disk",
    r"this machine has no disk: .*",
    r"the disk has no node in /dev",
    r"a daemon is at work here",
    r"this kernel shows no stacks: .*",
    r"this machine's number of clone\(2\) is not known",
    r"the kernel that \$WBLAB_KERNEL names has no um_cycles",
    r"no source of a series is unpacked",
    # programs
    r"no glibc",
    r"no Chromium is installed",
    r"no trace_processor on this machine",
    r"no Python \S+ on this machine",
    r"(strace|prlimit) is not installed",
    r"what makes a filesystem is not installed: .*",
    r"QEMU is not installed: .*",
    r"cpio is not installed",
    r"(in-qemu\.sh|a machine with busybox alone) needs .*",
    r"openssl .* is not installed",
    r"promtool is not installed: .*",
    r"needs dpkg-deb, .*",
    r"no pkg-config, or no development files of libtracecmd",
    r"mkfs\.xfs is repeatable since xfsprogs 6\.18",
    r"the loader has no --list-diagnostics \(glibc 2\.33\)",
    # slow to build
    r"the kernel \S+ has no seccomp mode",
    r"the kernel \S+ is not built: wblab kernel build \S+",
    r"the kernel \S+ is (not here|here without its drivers): wblab kernel build --stock \S+( --refresh)?",
    r"no expected figures of \S+ are recorded",
    # the golden run was made with other programs than this machine's
    r"no golden run for this machine: .*",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--left-out", type=Path, metavar="FILE", help="append what was not tested, and why, to FILE")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _judged(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _judged(report)


def _judged(report: Any) -> Any:
    if report.skipped and not hasattr(report, "wasxfail") and not is_permitted(reason := _reason(report)):
        report.outcome = "failed"
        report.longrepr = f"left out for a reason that tests/support/leftout.py does not permit: {reason}"
    return report


def is_permitted(reason: str) -> bool:
    return any(re.fullmatch(pattern, reason) for pattern in PERMITTED)


def _reason(report: Any) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    lines = summary([(_reason(report), report.nodeid.partition("::")[0]) for report in reports])
    terminalreporter.section("not tested")
    terminalreporter.line("\n".join(lines) or "nothing was left out")
    if (file := config.getoption("--left-out")) and not hasattr(config, "workerinput"):  # a process of xdist
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as output:
            output.writelines(f"{line}\n" for line in lines)


def summary(left_out: list[tuple[str, str]]) -> list[str]:
    """Return a line for each reason and file: how many tests were left out."""
    counts = Counter(left_out)
    return [f"{count:4} of {file}: {reason}" for (reason, file), count in sorted(counts.items())]
