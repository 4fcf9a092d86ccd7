"""What the block is that a task waits for: by its place on the disk, and by the function that needed it.

For ext2, ext3 and ext4. The layout is the filesystem's when it was made. A block outside of it may be a directory, a
part of an extent tree or data: only the function shows that.
"""

from wblab.analysis.why.offcpu import Stack
from wblab.lab.layouts import Layout

# Which lock of the kernel a task waited for, by the function that takes it: of a file, a directory and so on.

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
# Compilers inline open_last_lookups into it. Other locks are taken below it, so it counts only if it takes one itself.
_BY_CALLER = {"path_openat": "a directory"}
_TAKES = ("schedule", "__schedule", "rwsem_", "down_", "__down_", "mutex_", "__mutex_", "trace_")
_BY_FUNCTION = {name: what for what, names in _OF.items() for name in names}


def lock_of(stack: Stack) -> str:
    """Return whose lock a task with this stack waited for; empty if unknown. stack: the innermost function first."""
    caller = next((name for name in stack if not name.startswith(_TAKES)), "")
    found = next((_BY_FUNCTION[name] for name in stack if name in _BY_FUNCTION), "")
    return _BY_CALLER.get(caller, found)


# The innermost of these in the sleeper's stack counts (fs/ext4, fs/ext2).
_OBJECTS = {
    "ext4_reserve_inode_write": "inode table",
    "__ext4_get_inode_loc": "inode table",
    "ext4_do_update_inode": "inode table",
    "ext2_get_inode": "inode table",
    "__ext4_new_inode": "inode bitmap or group descriptor",
    "ext4_free_inode": "inode bitmap or group descriptor",
    "ext4_read_inode_bitmap": "inode bitmap",
    "ext2_new_inode": "inode bitmap or group descriptor",
    "ext4_mb_mark_diskspace_used": "block bitmap or group descriptor",
    "ext4_mb_mark_context": "block bitmap or group descriptor",
    "ext4_wait_block_bitmap": "block bitmap",
    "ext4_mb_init_cache": "block bitmap",
    "ext2_new_blocks": "block bitmap or group descriptor",
    "add_dirent_to_buf": "directory",
    "ext4_add_entry": "directory",
    "ext4_dx_add_entry": "directory",
    "ext4_delete_entry": "directory",
    "__ext4_find_entry": "directory",
    "ext4_bread": "directory",
    "ext4_ext_get_access": "extent tree",
    "ext4_ext_insert_extent": "extent tree",
    "__read_extent_tree_block": "extent tree",
    "ext4_orphan_add": "superblock or inode table",
    "ext4_orphan_del": "superblock or inode table",
    "jbd2_journal_commit_transaction": "journal",
    "jbd2_write_superblock": "journal",
    "ext4_commit_super": "superblock",
}


def wanted(stack: Stack) -> str:
    """Return what block a task with this stack waited for; empty if unknown."""
    return next((_OBJECTS[name] for name in stack if name in _OBJECTS), "")


def identified(block: int, layout: Layout | None, stack: Stack) -> str:
    """Return what a block is; empty if unknown. If layout and function contradict each other, return both."""
    by_function, region = wanted(stack), layout.region(block) if layout else None
    if layout is None or region is None:
        is_odd = layout is not None and any(word in by_function for word in _FIXED)
        return f"{by_function}, though it lies where data may be" if is_odd else by_function
    place = f"{region.what} of group {region.group}" if region.group >= 0 else region.what
    if numbers := layout.inodes(block):
        place += f", inodes {numbers[0]} to {numbers[-1]}"
    agrees = not by_function or any(word.strip() in region.what for word in by_function.split(" or "))
    return place if agrees else f"{place}, though wanted as {by_function}"


# These have a fixed place: a block elsewhere is not one of them.
_FIXED = ("bitmap", "inode table", "superblock")
