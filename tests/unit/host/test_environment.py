import re
import subprocess
from pathlib import Path

import pytest

from wblab.host.environment import ENVIRONMENT

LOADER = Path("/lib64/ld-linux-x86-64.so.2")
# What the names of some processors hold, as bits of `active`: cpuid 1 ecx, cpuid 7 ebx.
PICKED_BY = {
    (0, 2): {"SSSE3": 9, "FMA": 12, "SSE4_1": 19, "SSE4_2": 20, "POPCNT": 23, "AVX": 28},
    (1, 1): {"BMI1": 3, "AVX2": 5, "BMI2": 8, "ERMS": 9, "RTM": 11, "AVX512F": 16, "AVX512BW": 30, "AVX512VL": 31},
}


def diagnostics() -> dict[str, str]:
    """Return what glibc's loader says of itself: how it sees the processor."""
    done = subprocess.run([LOADER, "--list-diagnostics"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("the loader has no --list-diagnostics (glibc 2.33)")
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


@pytest.mark.skipif(not LOADER.exists(), reason="no glibc")
def test_glibc_sees_the_same_on_every_processor():
    seen = diagnostics()
    for (leaf, register), bits in PICKED_BY.items():
        active = int(seen[f"x86.cpu_features.features[{leaf:#x}].active[{register:#x}]"], 16)
        assert not [name for name, bit in bits.items() if active >> bit & 1]
    preferred = {name: value for name, value in seen.items() if re.search(r"preferred\.(?!I[56]86|MathVec)", name)}
    assert set(preferred.values()) == {"0x0"}
    assert seen["dl_hwcaps_subdirs_active"] == "0x0"
    assert seen["x86.cpu_features.xsave_state_size"] == "0x0"
    sizes = ("data_cache_size", "shared_cache_size", "non_temporal_threshold", "rep_movsb_threshold")
    assert [int(seen[f"x86.cpu_features.{name}"], 16) >> 10 for name in sizes] == [32, 1024, 768, 2]
