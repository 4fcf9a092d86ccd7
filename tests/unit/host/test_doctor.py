import json
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.host import abilities, doctor, machine
from wblab.host.doctor import bad, examine, next_command, table
from wblab.host.finding import Finding


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
    findings = [Finding("ptrace", True, "no Yama", "advice"), Finding("seccomp", False, "none", "do it")]
    assert table(findings).lines() == [
        "ok   ptrace   no Yama",
        "BAD  seccomp  none",
        "              -> do it",
    ]


def test_packages_of_some_verbs_are_not_a_failure():
    findings = [Finding("extra live", False, "not installed", "pip install", needed=False)]
    assert table(findings).lines() == ["--  extra live  not installed", "                -> pip install"]
    two = table([*findings, replace(findings[0], check="extra pages")]).lines()
    assert [line.strip() for line in two if "->" in line] == ["-> pip install"]
    assert bad(findings) == []


def test_missing_packages_of_some_verbs_are_listed_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setattr(abilities, "tool_versions", dict)
    monkeypatch.setattr(abilities, "find_kernel", lambda: None)
    monkeypatch.setattr(abilities, "mounted", lambda filesystem: [])
    monkeypatch.setattr(abilities, "_FILESYSTEMS", Path("/dev/null"))
    monkeypatch.setattr(machine, "_CPUINFO", Path("/dev/null"))
    monkeypatch.setattr(abilities, "cgroup_root", lambda: tmp_path)
    monkeypatch.setattr(abilities.extras, "is_there", lambda extra: False)
    findings = {finding.check: finding for finding in abilities.abilities()}
    assert set(findings) >= {"kernel", "trace-cmd", "tracefs", "control groups", "extra notebooks", "extra live"}
    for finding in findings.values():
        assert (finding.good, finding.needed) == (False, False)
        assert finding.advice
    assert findings["control groups"].found.endswith("with neither io nor memory")
    assert "pip install" in findings["extra notebooks"].advice
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory\n")
    assert abilities._groups().good


def test_the_output_ends_with_the_next_command(monkeypatch, capsys):
    kernel = Finding("kernel", False, "none is built yet", "wblab kernel build", needed=False)
    assert next_command([kernel]) == "wblab kernel build"
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("kernel", True, "7.2", needed=False)])
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["Next:", "    wblab run base"]
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("ptrace", False, "no", "allow it"), kernel])
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    assert "Next:" not in said.out
    assert said.err == "wblab: 1 of 2 checks failed: see the lines marked BAD\n"


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
def test_a_machine_that_forbids_ptrace_is_found(monkeypatch, tmp_path, scope, good):
    (tmp_path / "scope").write_text(f"{scope}\n")
    monkeypatch.setattr(doctor, "_PTRACE_SCOPE", tmp_path / "scope")
    finding = found("ptrace")
    assert finding.good == good
    assert finding.found.endswith(scope)
    assert "ptrace_scope=1" in finding.advice


def test_a_machine_without_yama_allows_ptrace(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_PTRACE_SCOPE", tmp_path / "missing")
    assert found("ptrace").good


def test_missing_packages_are_found(monkeypatch):
    monkeypatch.setattr(doctor, "missing_packages", lambda: ["bc", "flex"])
    monkeypatch.setattr(doctor, "built", lambda: Finding("kernel", False, "none built yet", needed=False))
    finding = found("packages")
    assert (finding.good, finding.found) == (False, "bc, flex")
    assert finding.advice.endswith(" bc flex'")


def test_a_compiler_is_needed_only_without_a_kernel(monkeypatch):
    there = Finding("kernel", True, "7.2", needed=False)
    monkeypatch.setattr(doctor, "missing_packages", lambda: ["gcc", "e2fsprogs", "libc6-dev"])
    monkeypatch.setattr(doctor, "built", lambda: there)
    assert (found("packages").needed, found("packages").found) == (True, "e2fsprogs")
    assert found("packages").advice.endswith(" e2fsprogs'")
    builds = found("packages of builds")
    assert (builds.good, builds.needed, builds.found) == (False, False, "gcc, libc6-dev: to build other kernels")
    monkeypatch.setattr(doctor, "built", lambda: Finding("kernel", False, "none built yet", needed=False))
    assert found("packages").found == "gcc, e2fsprogs, libc6-dev"
    assert "packages of builds" not in [finding.check for finding in doctor.examine()]


def test_random_addresses_are_found(monkeypatch):
    monkeypatch.setattr(doctor.addresses, "are_fixed", lambda: False)
    finding = found("addresses")
    assert not finding.good
    assert "setarch --addr-no-randomize" in finding.advice


def test_a_host_that_refuses_programs_in_memory_is_found(monkeypatch):
    assert found("exec in memory").good
    monkeypatch.setattr(doctor.execution, "is_allowed", lambda: False)
    assert found("exec in memory").advice.endswith("sysctl vm.memfd_noexec=1")


def test_a_missing_python_for_the_guest_is_found(monkeypatch):
    def interpreter():
        raise InputError("no Python")

    monkeypatch.setattr(doctor, "interpreter", interpreter)
    assert not found("Python of the guest").good


def test_too_little_memory_is_found(monkeypatch):
    monkeypatch.setattr(doctor, "available_memory_bytes", lambda: 1 << 20)
    assert not found("memory").good


def test_a_processor_for_which_numpy_is_not_built_is_found(monkeypatch, tmp_path):
    """The first is a virtual one: QEMU's qemu64."""
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "_CPUINFO", cpuinfo)
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu mmx fxsr sse sse2 syscall nx lm pni cx16 lahf_lm svm 3dnow\n")
    assert found("processor").found == "without popcnt, sse4_1, sse4_2, ssse3"
    assert (found("processor").good, found("processor").needed) == (False, False)
    cpuinfo.write_text("flags\t\t: lm pni ssse3 cx16 sse4_1 sse4_2 popcnt aes lahf_lm\n")
    assert found("processor").good


def test_room_for_a_build_is_needed_only_without_a_kernel(monkeypatch):
    monkeypatch.setattr(doctor, "_BUILD_ROOM", 1 << 62)
    for has_kernel in (True, False):
        kernel = Finding("kernel", has_kernel, "", needed=False)
        monkeypatch.setattr(doctor, "built", lambda kernel=kernel: kernel)
        assert (found("kernel cache").good, found("kernel cache").needed) == (False, not has_kernel)


def test_the_cache_need_not_exist_yet(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "yet"))
    assert str(tmp_path) in found("kernel cache").found
