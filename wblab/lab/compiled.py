"""Methods of dataclasses, compiled once for all commands.

A dataclass writes its methods as text. Byte code files hold only the module, so Python compiles that text at each
import: about half of what imports take before a guest boots. The lab keeps what it compiled, in its own cache. The
guest's program has the same in its archive (wblab.host.bundle).
"""

import atexit
import dataclasses
import importlib.util
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.lab import cache

_MOST = 20_000  # methods in the file: more than three versions of the lab have


def keep_compiled(end: Callable[[Callable[[], None]], object] = atexit.register) -> None:
    """Compile no method of a dataclass that an earlier command compiled; `end` is given what keeps the new ones.

    A cache that others could write to is not used: code in it runs here.
    """
    known, new = _kept(), dict[bytes, bytes]()

    def execute(text: str, *spaces: Any) -> None:
        key = blake2b(text.encode(), digest_size=16).digest()
        if key in known:
            exec(marshal.loads(known[key]), *spaces)
            return
        code = compile(text, "<string>", "exec")
        new[key] = marshal.dumps(code)
        exec(code, *spaces)

    vars(dataclasses)["exec"] = execute  # the module's functions find it before the built-in one
    us = os.getpid()
    end(lambda: _keep(known | new if len(known) + len(new) <= _MOST else new) if new and os.getpid() == us else None)


def _kept() -> dict[bytes, bytes]:
    """Return what is kept: code by a digest of its text."""
    try:
        cache.check_own()
        found = marshal.loads(_file().read_bytes())
    except (OSError, WblabError, EOFError, ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(found: dict[bytes, bytes]) -> None:
    with suppress(OSError, WblabError):  # without room, the next command compiles them again
        cache.room()
        staged = _file().with_suffix(f".{os.getpid()}")
        staged.write_bytes(marshal.dumps(found))
        staged.replace(_file())


def _file() -> Path:
    """Return the file of this Python: the magic number of its byte code changes with each form of code."""
    return cache.home() / f"methods-{sys.implementation.name}-{importlib.util.MAGIC_NUMBER.hex()}"
