"""A script in place of a guest's kernel: it sends on the status channel what a test wants."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wblab.host.sandbox import Sandbox
from wblab.kernels import Kernel

_HEAD = """#!{python} -IS
import json, os, sys, time
scratch = os.readlink("/proc/self/fd/11")
def say(phase, guest_ns=0, **detail):
    os.write(13, json.dumps({{"phase": phase, "guest_ns": guest_ns, "detail": detail}}).encode() + b"\\n")
"""


def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> Callable[[str], Kernel]:
    """Return a function that makes such a kernel from code, for a module that boots it, with its own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # The script needs more access to the host than a kernel does.
    monkeypatch.setattr(f"{module}.guest_sandbox", lambda *_, **__: Sandbox(runs=["/"], reads=["/"], calls=""))

    def make(code: str) -> Kernel:
        path = tmp_path / "linux"
        path.write_text(_HEAD.format(python=sys.executable) + code)
        path.chmod(0o755)
        return Kernel(path, None, "7.3", "7.3.0", "", (), "0" * 64, "a script", "none")

    return make
