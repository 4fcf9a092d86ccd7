"""Landlock: a process gives up all files, ports and processes of the host but those that it is granted.

It is the host kernel's word, and it holds for an ordinary user too. Names and attributes of files (stat, readlink)
stay visible, which Landlock does not cover. Source: Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from wblab.core.syscalls import checked, libc

_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG = 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # what version 1 knows, among it links, sockets, FIFOs and devices, which nobody is granted
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV  # a rule on a file may hold no others
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_UNIX_SOCKET, _SIGNAL = 1, 2

READ = _READ_FILE | _READ_DIR
LIST = _READ_DIR
RUN = _EXECUTE | _READ_FILE
USE = _READ_FILE | _WRITE_FILE  # a file that exists
KEEP = READ | _WRITE_FILE | _TRUNCATE | _MAKE_REG | _REMOVE_FILE  # regular files in a directory
OWN = KEEP | _MAKE_DIR | _REMOVE_DIR  # and directories


KNOWS_TRUNCATION = 3


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _Handled(ctypes.Structure):
    """struct landlock_ruleset_attr: what is refused unless a rule grants it."""

    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


@dataclass(frozen=True)
class Grant:
    """A file or directory of the host and what may be done with it and all below: READ, KEEP and so on."""

    path: str
    rights: int


def landlock_version() -> int:
    """Return the version of the host's Landlock, or 0 where there is none."""
    return max(0, int(libc.syscall(_SYS_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)))


def restrict(grants: Iterable[Grant], version: int | None = None) -> int:
    """Restrict this process and its children to these grants; return the version of Landlock that sees to it.

    Version 4 also refuses TCP, version 6 signals to processes outside and abstract sockets. Returns 0, and changes
    nothing, where the host has no Landlock. no_new_privs must be set. Raises OSError, also for a path that is missing.

    version: the host's; by default, found here.
    """
    version = landlock_version() if version is None else version
    if not version:
        return 0
    handled = _Handled(_FIRST)
    later = ((2, _REFER), (KNOWS_TRUNCATION, _TRUNCATE), (5, _IOCTL_DEV))
    handled.fs |= sum(right for since, right in later if version >= since)
    handled.net = _BIND_TCP | _CONNECT_TCP if version >= 4 else 0
    handled.scoped = _ABSTRACT_UNIX_SOCKET | _SIGNAL if version >= 6 else 0
    known = ctypes.c_size_t(8 * (1 + (version >= 4) + (version >= 6)))
    ruleset = checked(libc.syscall(_SYS_CREATE_RULESET, ctypes.byref(handled), known, 0))
    try:
        for grant in grants:
            _add(ruleset, grant, handled.fs)
        checked(libc.syscall(_SYS_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    return version


def _add(ruleset: int, grant: Grant, handled: int) -> None:
    parent = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = grant.rights if stat.S_ISDIR(os.fstat(parent).st_mode) else grant.rights & _OF_FILES
        rule = _PathBeneath(rights & handled, parent)
        checked(libc.syscall(_SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0), grant.path)
    finally:
        os.close(parent)
