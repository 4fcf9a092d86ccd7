"""The tunables are a fallback; tests/uml/test_processor.py tests what programs see in guests."""

import subprocess
from pathlib import Path

import pytest

from wblab.host.environment import ENVIRONMENT

LOADER = Path("/lib64/ld-linux-x86-64.so.2")


@pytest.mark.skipif(not LOADER.exists(), reason="no glibc")
def test_glibc_uses_the_cache_sizes_of_the_tunables():
    done = subprocess.run([LOADER, "--list-diagnostics"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("the loader has no --list-diagnostics (glibc 2.33)")
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    sizes = ("data_cache_size", "shared_cache_size", "non_temporal_threshold", "rep_movsb_threshold")
    assert [int(seen[f"x86.cpu_features.{name}"], 16) >> 10 for name in sizes] == [32, 1024, 768, 2]
