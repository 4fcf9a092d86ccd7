"""Where the files of loads are on their disks, after all data was written."""

import os
from contextlib import suppress
from pathlib import Path

from wblab.core.fiemap import extents
from wblab.core.rundir import FileRecord
from wblab.core.spec import Spec
from wblab.guest.devices import place


def map_files(spec: Spec) -> dict[str, dict[str, FileRecord]]:
    """Return the places of files, by load and file name, for the kinds of load with `maps_files`.

    Missing files, and files on a filesystem without FIEMAP, are left out.
    """
    found: dict[str, dict[str, FileRecord]] = {}
    for name, load in spec.load.items():
        for file in load.files if load.maps_files else ():
            with suppress(OSError):
                found.setdefault(name, {})[file] = _record(place(spec, spec.disk_of(name)) / file)
    return found


def _record(path: Path) -> FileRecord:
    fd = os.open(path, os.O_RDONLY)
    try:
        return FileRecord(os.fstat(fd).st_size, os.fstatvfs(fd).f_frsize, extents(fd))
    finally:
        os.close(fd)
