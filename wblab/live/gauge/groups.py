"""Control groups by the inode that events name."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from wblab.machine.cgroup import cgroup_root

_MOST = 20_000  # groups that are looked at


class Groups:
    """Paths of control groups by their inodes, as in /proc/PID/cgroup. Unknown ones are looked for once."""

    def __init__(self, root: Path | None = None) -> None:
        """Root: where cgroup v2 is mounted; by default, where it is on this machine."""
        self._root = root or cgroup_root()
        self._known: dict[int, str] = {}

    def path(self, inode: int) -> str:
        """Return a group's path, or its inode as text if there is no such group any more."""
        if inode not in self._known:
            with suppress(OSError):
                self._known |= dict(self._all())
        return self._known.setdefault(inode, str(inode))

    def _all(self) -> Iterator[tuple[int, str]]:
        if self._root is None:
            return
        left = [str(self._root)]
        for _ in range(_MOST):
            if not left:
                return
            with suppress(OSError), os.scandir(left.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                        yield entry.inode(), "/" + os.path.relpath(entry.path, self._root)
