"""Landlock: a process gives up writing to the host, but for a few directories.

The guest's read-only root is the guest kernel's word; a root process inside could remount it. This is the host
kernel's word, and it holds for an ordinary user too. Source: Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from wblab.core.syscalls import checked, libc

_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE = 1 << 1
# REMOVE_DIR, REMOVE_FILE and the MAKE_ rights: directories, files, sockets, links, devices.
_CHANGE_DIRECTORY = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # since version 2 and version 3


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def landlock_version() -> int:
    """Return the version of the host's Landlock, or 0 where there is none."""
    return max(0, int(libc.syscall(_SYS_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)))


def confine_writes(directories: Iterable[Path]) -> bool:
    """Let this process and its children write below `directories` and to /dev/null only; reading stays as it is.

    Returns False, and changes nothing, where the host has no Landlock. Raises OSError.
    """
    version = landlock_version()
    if not version:
        return False
    rights = _WRITE_FILE | _CHANGE_DIRECTORY
    rights |= _REFER if version >= 2 else 0
    rights |= _TRUNCATE if version >= 3 else 0
    ruleset = checked(libc.syscall(_SYS_CREATE_RULESET, ctypes.byref(ctypes.c_uint64(rights)), ctypes.c_size_t(8), 0))
    for directory in directories:
        _allow(ruleset, directory, rights)
    _allow(ruleset, Path(os.devnull), _WRITE_FILE)
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0))
    checked(libc.syscall(_SYS_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)
    return True


def _allow(ruleset: int, path: Path, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = _PathBeneath(rights, parent)
    checked(libc.syscall(_SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))
    os.close(parent)
