"""Which lock of the kernel a task waited for, by the function that takes it: of a file, a directory and so on."""

from wblab.analysis.why.stacks import Stack

FILE = "a file"
# fs/namei.c, the filesystems' own read and write functions, fs/super.c, mm/mmap.c; the innermost one counts
_OF = {
    "a directory": (
        *("open_last_lookups", "lookup_slow", "walk_component", "do_unlinkat", "filename_unlinkat", "filename_create"),
        *("lock_rename", "do_renameat2", "filename_renameat2", "iterate_dir", "do_rmdir", "filename_rmdir"),
        *("start_dirop", "__start_dirop", "start_removing", "start_creating"),
    ),
    FILE: (
        *("ext4_buffered_write_iter", "ext4_file_write_iter", "ext4_dio_write_iter", "ext4_dio_read_iter"),
        *("ext4_file_read_iter", "ext4_fallocate", "generic_file_write_iter", "xfs_file_buffered_write"),
        *("xfs_file_write_iter", "xfs_file_read_iter", "xfs_ilock_iocb", "xfs_ilock", "btrfs_inode_lock"),
        *("btrfs_buffered_write", "btrfs_direct_write", "f2fs_file_write_iter", "do_truncate", "vfs_fallocate"),
        *("chmod_common", "vfs_utimes", "do_ftruncate"),
    ),
    "a filesystem (s_umount)": ("super_lock", "grab_super", "iterate_supers", "ksys_sync"),
    "a program's memory map": (
        *("lock_mm_and_find_vma", "do_user_addr_fault", "vm_mmap_pgoff", "__vm_munmap", "do_mprotect_pkey"),
        *("__do_sys_brk", "mmap_write_lock_killable", "mmap_read_lock_killable"),
    ),
    "a pipe": ("pipe_write", "anon_pipe_write", "pipe_read", "anon_pipe_read"),
}
_BY_FUNCTION = {name: what for what, names in _OF.items() for name in names}


def lock_of(stack: Stack) -> str:
    """Return whose lock a task with this stack waited for; empty if unknown."""
    return next((_BY_FUNCTION[name] for name in stack if name in _BY_FUNCTION), "")
