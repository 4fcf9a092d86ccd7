"""The disks' filesystems as a guest in QEMU gets them: only the pieces that mkfs has written."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict

from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.core.stacks import images
from wblab.host.disk import made_disks, mkfs_of
from wblab.host.mkfs import Mkfs
from wblab.lab.places import ROOT

_PIECE = 1 << 16
# mkfs is started by a fork, which is not for a process that may have threads.
_PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
from wblab.core.errors import WblabError
from wblab.host.mkfs import Mkfs, format_disk
try:
    format_disk(Mkfs(**json.loads(sys.argv[2])), int(sys.argv[3]))
except WblabError as error:
    sys.exit(str(error))
"""


def disk_contents(spec: Spec) -> list[bytes]:
    """Return what lies on each disk at first, in the order of the images. Raises WblabError.

    A line with the offsets and lengths of pieces, as JSON, and then the pieces; what is between them is zero.
    """
    with made_disks(images(spec).values()) as descriptors:
        for mkfs, descriptor in zip(mkfs_of(spec), descriptors, strict=True):
            _format(mkfs, descriptor)
        return [_packed(descriptor) for descriptor in descriptors]


def _format(mkfs: Mkfs, descriptor: int) -> None:
    order = [str(ROOT), json.dumps(asdict(mkfs)), str(descriptor)]
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, *order]
    done = subprocess.run(command, pass_fds=[descriptor], capture_output=True, text=True, check=False)
    if done.returncode:
        raise WblabError((done.stderr.strip().splitlines() or ["mkfs failed"])[-1])


def _packed(descriptor: int) -> bytes:
    pieces = list(_pieces(descriptor))
    index = json.dumps([(offset, len(data)) for offset, data in pieces]).encode()
    return b"\n".join([index, b"".join(data for _, data in pieces)])


def _pieces(descriptor: int) -> Iterator[tuple[int, bytes]]:
    nothing = bytes(_PIECE)
    for offset in range(0, os.fstat(descriptor).st_size, _PIECE):
        data = os.pread(descriptor, _PIECE, offset)
        if data != nothing[: len(data)]:
            yield offset, data
