"""What a program asked for that its guest does not have: system calls, from the trace of its run, and instructions."""

import signal
from collections.abc import Sequence
from errno import ENOSYS
from pathlib import Path

import tracecmd
from tracecmd import TraceError

from wblab.core.errors import InputError
from wblab.lab.printable import printable

_EXIT = "sys_exit"
_MOST = 5  # that are named
# Calls that kernels of the lab lack, by their numbers (arch/x86/entry/syscalls/syscall_64.tbl).
_NAMES = {
    29: "shmget",
    64: "semget",
    68: "msgget",
    154: "modify_ldt",
    163: "acct",
    175: "init_module",
    205: "set_thread_area",
    211: "get_thread_area",
    237: "mbind",
    238: "set_mempolicy",
    239: "get_mempolicy",
    240: "mq_open",
    246: "kexec_load",
    248: "add_key",
    249: "request_key",
    250: "keyctl",
    256: "migrate_pages",
    279: "move_pages",
    298: "perf_event_open",
    300: "fanotify_init",
    303: "name_to_handle_at",
    304: "open_by_handle_at",
    310: "process_vm_readv",
    311: "process_vm_writev",
    312: "kcmp",
    313: "finit_module",
    320: "kexec_file_load",
    321: "bpf",
    323: "userfaultfd",
    329: "pkey_mprotect",
    330: "pkey_alloc",
    331: "pkey_free",
    425: "io_uring_setup",
    443: "quotactl_fd",
    444: "landlock_create_ruleset",
    447: "memfd_secret",
    451: "cachestat",
    453: "map_shadow_stack",
}
_ASKED_BY_ALL = {334}  # rseq: glibc asks for it in each process, and goes on without
_NO_INSTRUCTION = 128 + signal.SIGILL


def lacking(trace: Path) -> list[str]:
    """Return the system calls that programs asked for and their kernel lacks, each with who asked first.

    Raises InputError for a damaged trace.
    """
    try:
        with tracecmd.open(trace) as opened:
            if _EXIT not in opened.names:
                return []
            exits = opened.events(_EXIT)
            asked = exits["ret"] == -ENOSYS
            found: dict[int, str] = {}
            for number, program in zip(exits["id"][asked].tolist(), exits.comm[asked].tolist(), strict=True):
                found.setdefault(number, printable(str(program)))
    except (OSError, TraceError) as error:
        raise InputError(f"cannot read {trace}: {error}") from None
    return [
        f"{_NAMES.get(number, f'call {number}')} of {program}"
        for number, program in found.items()
        if number not in _ASKED_BY_ALL
    ]


def lacks_said(calls: Sequence[str], code: int) -> list[str]:
    """Return in a line each what a program that ended with a code missed in the guest; nothing of one that did well."""
    if not code:
        return []
    said = []
    if calls:
        more = f" and {len(calls) - _MOST} more" if len(calls) > _MOST else ""
        said.append(f"the guest's kernel lacks what it asked for: {', '.join(calls[:_MOST])}{more}")
    if code == _NO_INSTRUCTION:
        said.append("SIGILL: it used an instruction that this processor lacks, or that guests have not, such as AMX")
    return said
