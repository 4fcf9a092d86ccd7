"""The processor that a guest's programs see: the same on every host that can trap CPUID, with its own counter.

Elsewhere there are only the tunables of wblab/host/environment.py: nothing is asserted there of what CPUID says.
"""

import json
import os
import re
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.processes import descendants

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.run import read_run
from wblab.host import run
from wblab.host.environment import ENVIRONMENT
from wblab.kernels import features

# Machine code that Python runs: CPUID of some leaves, and the time-stamp counter before and after 10 ms.
ASK = """
import ctypes, json, mmap, time

pages = []

def function(code, result, *arguments):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    pages.append(page)
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

# push rbx; eax = edi; ecx = esi; r8 = rdx; cpuid; r8[0..3] = eax, ebx, ecx, edx; pop rbx; ret
word = ctypes.c_uint32
cpuid = function("53 89f8 89f1 4989d0 0fa2 418900 41895804 41894808 4189500c 5b c3", None, word, word, ctypes.c_void_p)
# rdtsc, or rdtscp; rax |= rdx << 32; ret
rdtsc, rdtscp = (function(f"{code} 48c1e220 4809d0 c3", ctypes.c_uint64) for code in ("0f31", "0f01f9"))

def leaf(number, part=0):
    answer = (word * 4)()
    cpuid(number, part, answer)
    return list(answer)

leaves = {f"{number:#x}/{part}": leaf(number, part) for number, part in
          [(0, 0), (1, 0), (4, 0), (4, 2), (4, 3), (7, 0), (0xd, 0), (0xd, 1), (0x80000001, 0), (0x80000002, 0)]}
before = rdtsc()
time.sleep(0.01)
passed = rdtscp() - before
print("asked", json.dumps({"leaves": leaves, "passed": passed}))
"""
LOADER = "/lib64/ld-linux-x86-64.so.2"
QUIET = ("trace.events=[]", "load={c1={kind='control', idle='50ms'}}")
SHORT = ("disk.size=64MiB", "load.l1.wait=1s", "load.l1.size=16MiB", "load.l2.wait=6s", "load.l2.size=2MiB")
# x86-64-v2 of the psABI, and nothing that needs the processor state that XGETBV reports.
ECX = {"SSE3": 0, "SSSE3": 9, "CX16": 13, "SSE4.1": 19, "SSE4.2": 20, "POPCNT": 23}
OTHER = "flags\t\t: fpu tsc msr pae cx8 cmov mmx fxsr sse sse2 syscall nx lm\ncache_alignment\t: 128\n"  # a Pentium 4


@pytest.fixture(params=["seccomp", "ptrace"])
def mode(request, kernel, monkeypatch):
    """Both ways in which a guest's kernel controls its programs; kernels before 7.x have only the second."""
    if request.param == "ptrace":
        monkeypatch.setattr(run, "features", lambda kernel: [name for name in features(kernel) if name != "seccomp"])
        given(monkeypatch, "seccomp=off")
    elif "seccomp" not in features(kernel):
        pytest.skip(f"the kernel {kernel.release} has no seccomp mode")
    return request.param


def given(monkeypatch, *more):
    """Add kernel parameters to guests; of two equal parameters the last counts."""
    original = run.kernel_arguments
    monkeypatch.setattr(run, "kernel_arguments", lambda spec, **options: insert(original(spec, **options), more))


def insert(arguments, more):
    return [*arguments[: arguments.index("norandmaps")], *more, *arguments[arguments.index("norandmaps") :]]


def console(run_):
    return (run_.path / "console.log").read_text(errors="replace")


def printed(lab, argv):
    """Return what a command printed in a guest."""
    return console(lab.run("base", *QUIET, f"load.go={{kind='command', wait='1s', argv={json.dumps(argv)}}}"))


def asked(lab):
    text = printed(lab, ["python3", "-c", ASK])
    return json.loads(re.search(r"^asked (.*)$", text, re.MULTILINE)[1]), text


def test_cpuid_and_the_time_stamp_counter_are_emulated(lab, mode):
    answer, text = asked(lab)
    assert 10_000_000 <= answer["passed"] < 11_000_000  # ns of virtual time, on every host
    if "userspace sees the host's processor" in text:
        assert "CPUID can be trapped...missing" in text  # reported; nothing more is promised
        return
    assert "userspace sees an x86-64-v2" in text
    leaves = answer["leaves"]
    most, *vendor = leaves["0x0/0"]
    assert (most, struct.pack("<3I", vendor[0], vendor[2], vendor[1])) == (4, b"GenuineIntel")
    assert leaves["0x1/0"][2] == sum(1 << bit for bit in ECX.values())
    assert leaves["0x4/2"] == [0x143, 0x1C0003F, 0x7FF, 0]  # 1 MiB
    assert all(leaves[key] == [0, 0, 0, 0] for key in ("0x4/3", "0x7/0", "0xd/0", "0xd/1"))
    assert struct.pack("<4I", *leaves["0x80000002/0"]) == b"User Mode Linux "


def test_glibc_selects_functions_of_the_emulated_processor(lab, monkeypatch):
    """There are no tunables here, because they would hide what glibc sees."""
    monkeypatch.setitem(ENVIRONMENT, "GLIBC_TUNABLES", "")
    text = printed(lab, ["sh", "-c", f"{LOADER} --list-diagnostics || echo no diagnostics"])
    if "no diagnostics" in text:
        pytest.skip("the loader has no --list-diagnostics (glibc 2.33)")
    if "userspace sees the host's processor" in text:
        pytest.skip("this host cannot fault CPUID: its processor is what glibc sees")
    seen = dict(re.findall(r"^(\S+)=(0x[0-9a-f]+)\s*$", text, re.MULTILINE))
    level = {key: int(value, 16) for key, value in seen.items() if re.search(r"features\[0x[01]\]\.active", key)}
    sse = sum(1 << ECX[name] for name in ("SSSE3", "SSE4.1", "SSE4.2"))
    assert level["x86.cpu_features.features[0x0].active[0x2]"] & sse == sse
    assert level["x86.cpu_features.features[0x1].active[0x1]"] == 0  # neither AVX2 nor ERMS
    sizes = ("level1_dcache_size", "level2_cache_size", "level3_cache_size")
    assert [int(seen[f"x86.cpu_features.{name}"], 16) >> 10 for name in sizes] == [32, 1024, 0]
    assert int(seen["x86.cpu_features.xsave_state_size"], 16) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to show another processor")
def test_the_host_s_cpuinfo_does_not_change_a_run(shared_lab, lab, tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(OTHER)
    script = f'mount --bind {cpuinfo} /proc/cpuinfo && exec "$@"'
    own = lab.command("base", *(f"--set={setting}" for setting in SHORT))
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *own], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    (directory,) = lab.results.glob("2*")
    assert first_differences(shared_lab.run("base", *SHORT), read_run(directory)) == []


def test_ptrace_and_seccomp_modes_give_the_same_run(shared_lab, monkeypatch):
    if "amx_tile" in Path("/proc/cpuinfo").read_text():
        pytest.skip("the host's processor has AMX, for whose state ptrace wants more room in every task")
    monkeypatch.setitem(ENVIRONMENT, "GLIBC_TUNABLES", "")
    first = shared_lab.run("base", *SHORT)
    monkeypatch.setattr(run, "features", lambda kernel: [name for name in features(kernel) if name != "seccomp"])
    given(monkeypatch, "seccomp=off")
    assert first_differences(first, shared_lab.run("base", *SHORT)) == []


def test_pages_never_accessed_are_not_executable(lab):
    """Without protection keys, executable pages are readable, so the kernel would miss read accesses to them."""
    # The permissions of a program's mappings of the guest's memory, which is shared with the kernel.
    guest: set[str] = set()
    with lab.start("base", *(f"--set={setting}" for setting in SHORT)) as process:
        while process.poll() is None:
            for pid, name in descendants(process.pid).items():
                with suppress(OSError):
                    maps = Path(f"/proc/{pid}/maps").read_text() if "userspace" in name else ""
                    guest |= {line.split()[1] for line in maps.splitlines()}
            time.sleep(0.02)
    assert process.returncode == 0
    assert "r-xs" in guest
    assert "--xs" not in guest
