import ctypes
import errno
import mmap
import os

import pytest

from wblab.core import syscalls
from wblab.core.child import fork_child


def test_umount_names_what_could_not_be_unmounted(tmp_path):
    with pytest.raises(OSError, match=str(tmp_path)) as raised:
        syscalls.umount(tmp_path)
    assert raised.value.errno in (errno.EINVAL, errno.EPERM)


def test_memory_is_locked():
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    syscalls.lock_memory(ctypes.addressof(ctypes.c_char.from_buffer(memory)), len(memory))
    with open("/proc/self/status") as status:
        locked = next(line for line in status if line.startswith("VmLck:"))
    assert int(locked.split()[1]) >= mmap.PAGESIZE // 1024


def test_the_io_priority_is_set():
    ioprio_get, who_process = 252, 1  # arch/x86/entry/syscalls/syscall_64.tbl

    def task():
        for ioclass, level, value in (("idle", 4, 3 << 13), ("best-effort", 7, 2 << 13 | 7)):
            syscalls.set_ioprio(ioclass, level)
            assert syscalls.libc.syscall(ioprio_get, who_process, 0) == value
        syscalls.set_ioprio("best-effort", 2, os.getpid())
        assert syscalls.libc.syscall(ioprio_get, who_process, 0) == 2 << 13 | 2

    assert os.waitpid(fork_child(task), 0)[1] == 0


def test_a_failing_call_raises_its_own_reason():
    with pytest.raises(FileNotFoundError, match="No such file or directory: 'the subject'"):
        syscalls.checked(syscalls.libc.rmdir(b"/no/such/directory"), "the subject")


def test_a_swap_header_is_as_mkswap_writes_it():
    header = syscalls.swap_header(1 << 20)
    assert (len(header), header[-10:]) == (4096, b"SWAPSPACE2")
    assert [int.from_bytes(header[at : at + 4], "little") for at in (1024, 1028, 1032)] == [1, 255, 0]
