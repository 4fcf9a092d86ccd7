"""The object files of one place, from which make builds the next kernel there: the bytes of a whole build, sooner.

Make compares times, and kbuild the commands of a rule and the headers that it has listed. Neither sees everything: the
list of a build that was killed may be of another source, a new header may hide one that was included, the compiler's
own headers are in no list, and a clock that was set back makes new files old. So a build works in a copy of what the
last one left that ended with success. The copy takes its place after make has succeeded. If anything has changed that
make may not see, nothing is taken, and the build is whole.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.kernels import config
from wblab.lab import cache

KEPT = "kept"  # the folder below a place that has the objects of its last build
_RECORD = "wblab.json"
_COMPILED = (".c", ".h", ".S")  # for each of them kbuild lists what includes it
# Kconfig files matter by the configuration that they make, which is compared itself.
_UNREAD = re.compile(
    r"(?:Documentation|LICENSES|include/dt-bindings|arch/(?!um/|x86/)[^/]+)/"
    r"|tools/(?!arch/|bpf/|build/|include/|lib/|objtool/|scripts/)[^/]+/"
    r"|(?:CREDITS|MAINTAINERS)$|(?:.*/)?(?:Kconfig[^/]*|\.[^/]*|README)$"
)
_BY_FOLDER = ("drivers", "fs", "net", "rust", "samples", "sound", "virt")  # make reads only the folders that it enters


class Objects:
    """The objects of one place, which its user has locked: `take`, make, `check`, `keep`. After a failure: `drop`."""

    def __init__(self, place: Path, surroundings: str) -> None:
        """Use a folder below the cache. surroundings: a digest of all that a build reads outside its tree."""
        self.folder = place / "objects"  # where make works: its path is in the objects
        self._kept, self._old = place / KEPT, place / "old"
        self._surroundings = f"{surroundings} {place}"
        self._sources: dict[str, tuple[str, int]] = {}  # digest, and the time at which the file got this content
        self._newest_ns = 0  # time of the newest object that was taken
        self._began_ns = self._began_monotonic_ns = 0

    def take(self, tree: Path) -> str:
        """Prepare `folder` and the times of a tree's files; return why the build is whole, or "" if it is not.

        Each file gets the time at which its content last changed, as the tree was copied and patched anew.
        """
        self.drop()
        record = cache.read_json(self._kept / _RECORD) or {}
        before: dict[str, tuple[str, int]] = {name: (was[0], was[1]) for name, was in record.get("sources", {}).items()}
        digests = dict(_digests(tree))
        self._began_ns, self._began_monotonic_ns = time.time_ns(), time.monotonic_ns()
        self._newest_ns = record.get("newest_ns", 0)
        why = self._unseen(record.get("surroundings"), before, digests)
        if why:
            before, self._newest_ns = {}, 0
        else:
            shutil.copytree(self._kept, self.folder, symlinks=True, ignore=shutil.ignore_patterns(_RECORD))
        self._sources = {}
        for name, digest in digests.items():
            was, time_ns = before.get(name, ("", 0))
            time_ns = time_ns if was == digest else self._began_ns
            os.utime(tree / name, ns=(time_ns, time_ns), follow_symlinks=False)
            self._sources[name] = (digest, time_ns)
        return why

    def configured(self, text: str) -> bool:
        """Whether the objects are of this configuration. If they are not, drop them: configure and build whole."""
        try:
            before = (self._kept / ".config").read_text() if self._newest_ns else text
        except OSError:
            before = ""
        if config.parse_config(before) == config.parse_config(text):
            return True
        self.drop()
        self._newest_ns = 0
        return False

    def check(self) -> None:
        """Raise WblabError if the clock went back so far that a new file may have looked older than what was taken."""
        back_ns = (time.monotonic_ns() - self._began_monotonic_ns) - (time.time_ns() - self._began_ns)
        if self._newest_ns and back_ns >= self._began_ns - self._newest_ns:
            raise WblabError("the clock was set back while the kernel was built: build it again")

    def keep(self) -> None:
        """Put the objects where the next build takes them, after make has succeeded and `check` has passed."""
        newest_ns = max(os.lstat(path).st_mtime_ns for path in _files(self.folder))
        record = {"surroundings": self._surroundings, "newest_ns": newest_ns, "sources": self._sources}
        os.sync()  # after a power cut, a record must not stand beside objects that were not written
        cache.write_json(self.folder / _RECORD, record)
        with suppress(FileNotFoundError):
            self._kept.rename(self._old)
        self.folder.rename(self._kept)
        shutil.rmtree(self._old, ignore_errors=True)

    def drop(self) -> None:
        """Remove what a build in progress, or one that was killed, has left. What is kept stays."""
        for folder in (self.folder, self._old):
            shutil.rmtree(folder, ignore_errors=True)

    def _unseen(self, surroundings: object, before: Mapping[str, tuple[str, int]], now: Mapping[str, str]) -> str:
        """Return what has changed that make may not see, or ""."""
        if not before:
            return "no objects are kept"
        if surroundings != self._surroundings:
            return "the compiler, another tool or a header of the system has changed"
        if self._began_ns <= self._newest_ns:
            return "the objects are newer than the clock"
        for name in sorted(before.keys() | now.keys()):
            if now.get(name) == before.get(name, (None,))[0] or not self._is_read(name):
                continue
            if name not in now or name not in before:
                return f"{name} was {'added' if name in now else 'removed'}"
            if not name.endswith(_COMPILED) or name.startswith(("scripts/", "tools/")):
                return f"{name} has changed"
        return ""

    def _is_read(self, name: str) -> bool:
        """Whether a build may have read a file of the tree, or would read it now."""
        parts = name.split("/")
        if _UNREAD.match(name):
            return False
        return parts[0] not in _BY_FOLDER or self._kept.joinpath(*parts[:-1][:2]).is_dir()


def _digests(tree: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a tree, each with the digest of its content."""
    for path in _files(tree):
        name = os.path.relpath(path, tree)
        if os.path.islink(path):
            yield name, f"-> {os.readlink(path)}"
        else:
            with open(path, "rb") as file:
                yield name, hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(path, name))]
        yield from (os.path.join(path, name) for name in (*names, *links))
