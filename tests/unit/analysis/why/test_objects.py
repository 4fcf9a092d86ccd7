"""The object to which a block belongs, by its place on the disk and by the function that needed it."""

import pytest

from wblab.analysis.why.heldobjects import identified
from wblab.lab.layouts import Layout, Region

LAYOUT = Layout(
    1024,
    256,
    1000,
    (Region("superblock", -1, 1, 1), Region("inode bitmap", 2, 276, 1), Region("inode table", 0, 291, 250)),
)
WANTS_BITMAP = ("do_get_write_access", "__ext4_new_inode")
WANTS_DIRECTORY = ("do_get_write_access", "add_dirent_to_buf", "ext4_add_entry")


@pytest.mark.parametrize(
    ("block", "layout", "stack", "said"),
    [
        (276, LAYOUT, WANTS_BITMAP, "inode bitmap of group 2"),
        (276, LAYOUT, (), "inode bitmap of group 2"),
        (276, None, WANTS_BITMAP, "inode bitmap or group descriptor"),
        (294, LAYOUT, ("ext4_reserve_inode_write",), "inode table of group 0, inodes 13 to 16"),
        (294, LAYOUT, WANTS_DIRECTORY, "inode table of group 0, inodes 13 to 16, though wanted as directory"),
        (1, LAYOUT, ("ext4_orphan_add",), "superblock"),
        (5000, LAYOUT, WANTS_DIRECTORY, "directory"),
        (5000, LAYOUT, (), ""),
        (5000, LAYOUT, WANTS_BITMAP, "inode bitmap or group descriptor, though it lies where data may be"),
    ],
)
def test_place_and_function_are_compared(block, layout, stack, said):
    assert identified(block, layout, stack) == said
