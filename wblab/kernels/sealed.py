"""A stranger's git repository, read without its configuration: that may name programs, which git would run as us.

A file monitor, filters of attributes, a diff of one's own, textconv, a transport that fetches what is missing: each can
be set in .git/config, and more may come. So git works in a repository of our own whose objects, index and tags are the
tree's. Its configuration is ours, and attributes of the tree name filters that nobody defines.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.core.files import open_file, read_bytes
from wblab.kernels.git import git_bytes

# For the few calls that read the tree's own configuration, to find its parts: they run nothing, and fetch nothing.
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
_PARTS = ("HEAD", "--show-object-format", "--path-format=absolute", "--git-path", "objects", "--git-path", "index")
_EXCLUDED = ("--git-path", "info/exclude")
_MOST_EXCLUDED_BYTES = 1 << 20


@dataclass(frozen=True)
class Sealed:
    """The commands that read a tree."""

    head: bytes
    _tree: Path
    _environment: Mapping[str, str]

    def changes(self) -> bytes | None:
        """Return the difference of the tree to its last commit; None if git fails."""
        options = ("--binary", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
        return self._out("diff", *options, "HEAD", "--")

    def described(self) -> str:
        """Return the last commit by the nearest tag, and whether something was changed since; empty if git fails."""
        name = self._out("describe", "--always", "--tags")
        changed = self._out("diff", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "HEAD", "--")
        return (name.decode(errors="replace").strip() + ("-dirty" if changed else "")) if name else ""

    def names(self, *which: str) -> list[str] | None:
        """Return names of files that git does not ignore: those it knows (--cached), others (--others) or both."""
        found = self._out("ls-files", "-z", *which, "--exclude-standard")
        return None if found is None else [os.fsdecode(name) for name in found.split(b"\0") if name]

    def _out(self, *arguments: str) -> bytes | None:
        done = git_bytes(self._tree, *arguments, environment=self._environment)
        return done.stdout if done.returncode == 0 else None


@contextmanager
def sealed(tree: Path) -> Iterator[Sealed | None]:
    """Yield what reads a tree, None if it is no git repository or git refuses it as another user's."""
    found = git_bytes(tree, "rev-parse", *_PARTS, *_EXCLUDED, environment=_QUIET)
    # Nobody's paths have line ends in them: then there are more lines.
    lines = [os.fsdecode(line) for line in found.stdout.splitlines()]
    if found.returncode or len(lines) != 5:
        yield None
        return
    head, form, objects, index, excluded = lines
    with TemporaryDirectory(prefix="wblab-git-") as place:
        own = Path(place)
        (own / "objects" / "info").mkdir(parents=True)
        (own / "refs").mkdir()
        (own / "info").mkdir()
        (own / "HEAD").write_text(f"{head}\n")
        (own / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
        (own / "config").write_text(
            f"[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = {form}\n"
        )
        (own / "packed-refs").write_bytes(git_bytes(tree, "show-ref", "--tags", environment=_QUIET).stdout)
        with suppress(OSError):
            (own / "info" / "exclude").write_bytes(read_bytes(Path(excluded), _MOST_EXCLUDED_BYTES))
        with suppress(OSError), open_file(Path(index)) as file, (own / "index").open("wb") as copy:
            shutil.copyfileobj(file, copy)  # git may write it anew
        environment = {**_QUIET, "GIT_DIR": place, "GIT_WORK_TREE": str(tree.absolute())}
        yield Sealed(head.encode() + b"\n", tree, environment)
