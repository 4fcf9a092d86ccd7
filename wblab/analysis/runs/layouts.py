"""The layouts of a run's filesystems, recorded by the host in layouts.json, which is untrusted."""

import os
from itertools import pairwise
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.captures import LAYOUTS, Layout
from wblab.lab.formats import RUN, read_object
from wblab.lab.printable import printable
from wblab.lab.specfile import LiveSpec

_MOST_BLOCKS = 1 << 48
_LONGEST = 64  # letters in a region's description


def read_layouts(path: Path, spec: Spec | LiveSpec) -> dict[str, Layout]:
    """Return the known layouts of a run's disks, by name.

    Raises InputError for a file that does not fit the run.
    """
    file = path / LAYOUTS
    if not isinstance(spec, Spec) or not os.path.lexists(file):
        return {}
    names = {spec.disk_key(name): name for name in spec.disk}
    found = {}
    for key, table in read_object(file, RUN.where).items():
        try:
            layout = from_table(Layout, table, exact=True)
        except WblabError as error:
            raise InputError(f"{file} is damaged: {printable(str(error))}") from None
        if key not in names or not _is_sound(layout):
            raise InputError(f"{file} is damaged: it does not fit the spec")
        found[names[key]] = layout
    return found


def _is_sound(layout: Layout) -> bool:
    regions = layout.regions
    return (
        1 <= layout.inode_bytes <= layout.block_bytes <= 1 << 16
        and 1 <= layout.group_inodes < _MOST_BLOCKS
        and all(0 <= item.first < _MOST_BLOCKS and 0 < item.count < _MOST_BLOCKS for item in regions)
        and all(-1 <= item.group < _MOST_BLOCKS for item in regions)
        and all(one.first <= two.first for one, two in pairwise(regions))
        and all(len(item.what) <= _LONGEST and item.what == printable(item.what) for item in regions)
    )
