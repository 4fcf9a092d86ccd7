import json
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.commands.doctor import show, table
from wblab.core.errors import InputError, WblabError
from wblab.host.diagnosis import (
    Check,
    bad,
    built,
    check_addresses,
    check_cache,
    check_compiler,
    check_execution,
    check_extras,
    check_groups,
    check_guest_python,
    check_memory,
    check_packages,
    check_processor,
    check_ptrace,
    check_trace_cmd,
    check_tracefs,
    examine,
    next_command,
)
from wblab.host.machine import processor_flags
from wblab.kernels import list_kernels


def found(check):
    return next(finding for finding in examine() if finding.check == check)


def test_a_machine_is_examined_without_an_exception(shm):
    findings = examine()
    assert len({finding.check for finding in findings}) == len(findings) >= 9
    for finding in findings:
        assert finding.found
        assert finding.good or finding.advice
        json.dumps(finding.to_json())


def test_a_bad_finding_has_the_next_step():
    findings = [Check("ptrace", True, "no Yama", "advice"), Check("seccomp", False, "none", "do it")]
    assert table(findings).lines() == [
        "ok   ptrace   no Yama",
        "BAD  seccomp  none",
        "              -> do it",
    ]


def test_packages_of_some_verbs_are_not_a_failure():
    findings = [Check("extra live", False, "not installed", "pip install", needed=False)]
    assert table(findings).lines() == ["--  extra live  not installed", "                -> pip install"]
    two = table([*findings, replace(findings[0], check="extra pages")]).lines()
    assert [line.strip() for line in two if "->" in line] == ["-> pip install"]
    assert bad(findings) == []


def test_missing_packages_of_some_verbs_are_listed_with_the_command(tmp_path):
    all_of = [
        *(built(find=lambda: None, listing=list), check_trace_cmd({}), check_tracefs([], Path("/dev/null"))),
        *(check_processor(processor_flags(Path("/dev/null"))), check_groups(tmp_path)),
        *check_extras(is_there=lambda extra: False),
    ]
    findings = {finding.check: finding for finding in all_of}
    assert set(findings) >= {"kernel", "trace-cmd", "tracefs", "control groups", "extra notebooks", "extra live"}
    for finding in findings.values():
        assert (finding.good, finding.needed) == (False, False)
        assert finding.advice
    assert findings["control groups"].found.endswith("with neither io nor memory")
    assert "pip install" in findings["extra notebooks"].advice
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory\n")
    assert check_groups(tmp_path).good


def test_the_output_ends_with_the_next_command(capsys):
    kernel = Check("kernel", False, "none is built yet", "wblab kernel build", needed=False)
    assert next_command([kernel]) == "wblab kernel build"
    show([Check("kernel", True, "7.2", needed=False)], as_json=False)
    assert capsys.readouterr().out.splitlines()[-2:] == ["Next:", "    wblab run base"]
    with pytest.raises(WblabError, match=r"^1 of 2 checks failed: see the lines marked BAD$"):
        show([Check("ptrace", False, "no", "allow it"), kernel], as_json=False)
    assert "Next:" not in capsys.readouterr().out


def test_with_another_kernel_than_the_default_one_a_run_names_it():
    (entry,) = [entry for entry in list_kernels() if entry.series == "7.2"]
    listed = [replace(entry, kernel=None, variants={"lean": None, "programs": object()}, configured={})]
    kernel = built(find=lambda: None, listing=lambda: listed)
    assert (kernel.good, kernel.found) == (True, "7.2+programs; 7.2, the default, is not built")
    assert next_command([kernel]) == "wblab run base --kernel 7.2+programs"


def test_missing_shared_memory_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("WBLAB_SHM", str(tmp_path / "missing"))
    for check in ("shared memory", "exec on shared memory"):
        finding = found(check)
        assert not finding.good
        assert "missing: No such file or directory" in finding.found
        assert "WBLAB_SHM" in finding.advice


def test_shared_memory_that_cannot_be_written_is_found(monkeypatch):
    monkeypatch.setenv("WBLAB_SHM", "/proc")
    assert not found("exec on shared memory").good


@pytest.mark.parametrize(("scope", "good"), [("0", True), ("1", True), ("2", True), ("3", False)])
def test_a_machine_that_forbids_ptrace_is_found(tmp_path, scope, good):
    (tmp_path / "scope").write_text(f"{scope}\n")
    finding = check_ptrace(tmp_path / "scope")
    assert finding.good == good
    assert finding.found.endswith(scope)
    assert "ptrace_scope=1" in finding.advice


def test_a_machine_without_yama_allows_ptrace(tmp_path):
    assert check_ptrace(tmp_path / "missing").good


def test_missing_packages_are_found():
    finding = check_packages(["bc", "flex"], has_kernel=False)
    assert (finding.good, finding.found) == (False, "bc, flex")
    assert finding.advice.endswith(" bc flex'")


def test_a_compiler_is_needed_only_without_a_kernel():
    missing = ["gcc", "e2fsprogs", "libc6-dev"]
    with_kernel = check_packages(missing, has_kernel=True)
    assert (with_kernel.needed, with_kernel.found) == (True, "e2fsprogs")
    assert with_kernel.advice.endswith(" e2fsprogs'")
    builds = check_compiler(missing)
    assert (builds.good, builds.needed, builds.found) == (False, False, "gcc, libc6-dev: to build other kernels")
    assert check_packages(missing, has_kernel=False).found == "gcc, e2fsprogs, libc6-dev"


def test_random_addresses_are_found():
    finding = check_addresses(are_fixed=False)
    assert not finding.good
    assert "setarch --addr-no-randomize" in finding.advice


def test_a_host_that_refuses_programs_in_memory_is_found():
    assert found("exec in memory").good
    assert check_execution(is_allowed=False).advice.endswith("sysctl vm.memfd_noexec=1")


def test_a_missing_python_for_the_guest_is_found():
    def interpreter():
        raise InputError("no Python")

    assert not check_guest_python(interpreter).good


def test_too_little_memory_is_found():
    assert not check_memory(1 << 20).good


def test_a_processor_for_which_numpy_is_not_built_is_found(tmp_path):
    """The first is a virtual one: QEMU's qemu64."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu mmx fxsr sse sse2 syscall nx lm pni cx16 lahf_lm svm 3dnow\n")
    finding = check_processor(processor_flags(cpuinfo))
    assert finding.found == "without popcnt, sse4_1, sse4_2, ssse3"
    assert (finding.good, finding.needed) == (False, False)
    cpuinfo.write_text("flags\t\t: lm pni ssse3 cx16 sse4_1 sse4_2 popcnt aes lahf_lm\n")
    assert check_processor(processor_flags(cpuinfo)).good


@pytest.mark.parametrize("has_kernel", [True, False])
def test_room_for_a_build_is_needed_only_without_a_kernel(has_kernel):
    finding = check_cache(has_kernel=has_kernel, needed_bytes=1 << 62)
    assert (finding.good, finding.needed) == (False, not has_kernel)


def test_the_cache_need_not_exist_yet(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "yet"))
    assert str(tmp_path) in found("kernel cache").found
