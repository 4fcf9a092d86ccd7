"""What a block is that a task waits for, as data: told by the function that wanted it. ext2, ext3 and ext4."""

from wblab.why.stacks import Stack

# The innermost of these in the stack of a sleep says it (fs/ext4, fs/ext2).
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
    "jbd2_write_superblock": "journal's superblock",
    "ext4_commit_super": "superblock",
}


def wanted(stack: Stack) -> str:
    """Return what the block is for which a task slept with this stack; empty where it is not known."""
    return next((_OBJECTS[name] for name in stack if name in _OBJECTS), "")
