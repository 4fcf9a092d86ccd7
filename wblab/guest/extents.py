"""Where the files of loads lie on their disks, once all was written."""

import os
from contextlib import suppress
from pathlib import Path

from wblab.core.fiemap import extents
from wblab.core.rundir import FileRecord
from wblab.core.spec import Spec
from wblab.guest.devices import place


def map_files(spec: Spec) -> dict[str, dict[str, FileRecord]]:
    """Return where files lie, by load and name: of the loads for which that is noted.

    A file that is not there, or of which the filesystem does not tell, is left out.
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
