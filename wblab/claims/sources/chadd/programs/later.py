"""later FILE: write to a file after sending or reading it; record in later.json which receivers saw the change."""

import json
import os
import socket
import sys
from mmap import PAGESIZE, mmap
from pathlib import Path

from wblab.core.layout import LEFT, SCRATCH

RESULT = "later.json"
_BEFORE, _LATER = b"b" * PAGESIZE, b"l" * PAGESIZE


def main(path: str) -> dict[str, bool]:
    """Return, for each way of sending, whether its receiver saw the later bytes. Raises OSError."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.pwrite(fd, _BEFORE, 0)
    sender, receiver = socket.socketpair()
    with sender, receiver, mmap(fd, PAGESIZE) as memory:
        os.sendfile(sender.fileno(), fd, 0, PAGESIZE)
        copy = os.pread(fd, PAGESIZE, 0)
        os.pwrite(fd, _LATER, 0)
        sent = receiver.recv(PAGESIZE, socket.MSG_WAITALL)
        return {"sendfile": sent == _LATER, "mmap": memory[:] == _LATER, "read": copy == _LATER}


if __name__ == "__main__":
    Path(SCRATCH, LEFT, RESULT).write_text(json.dumps(main(sys.argv[1])))
