"""Kernel trees: their version and identity, and copies of them that can be patched.

The lab never writes to the user's tree. It builds a copy that shares no file with it.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.core.errors import InputError
from wblab.core.files import open_file, read_bytes
from wblab.kernels.git import git_bytes

_FICLONE = 0x40049409


def version(tree: Path) -> str:
    """Return the series of a kernel tree, such as 7.3, from its Makefile. Raises InputError if it is not a tree."""
    try:
        makefile = (tree / "Makefile").read_bytes()
    except OSError:
        makefile = b""
    found = version_of(makefile)
    if not found or not (tree / "arch/um").is_dir():
        raise InputError(f"{tree} is not a kernel tree: it needs a Makefile with VERSION and PATCHLEVEL, and arch/um")
    return found


def version_of(makefile: bytes) -> str | None:
    """Return the series that a kernel's Makefile names, or None."""
    head = makefile[:2000].decode(errors="replace")
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL) = (\d+)$", head, re.MULTILINE))
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}" if len(numbers) == 2 else None


def describe(tree: Path) -> str:
    """Return a description of the tree's state for readers: its path, with git's description if there is one."""
    with _sealed(tree) as repository:
        described = repository.described() if repository else ""
    return f"{tree} ({described})" if described else str(tree)


def identity(tree: Path) -> str:
    """Return a digest of the tree: of git's HEAD and all changes, or without git of names, sizes and times."""
    digest = hashlib.sha256()
    with _sealed(tree) as repository:
        changes = repository.changes() if repository else None
        others = repository.names("--others") if repository else None
    if repository is None or changes is None or others is None:
        for file in files(tree):
            status = os.lstat(tree / file)
            digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        return f"files:{digest.hexdigest()}"
    digest.update(repository.head + changes)
    for name in others:
        digest.update(os.fsencode(name) + b"\0" + _content(tree / name))
    return f"git:{digest.hexdigest()}"


def files(tree: Path) -> list[str]:
    """Return the source files of a tree, sorted, without git's own files and without those that git ignores.

    Raises InputError for a tree without git in which a kernel was built.
    """
    with _sealed(tree) as repository:
        listed = repository.names("--cached", "--others") if repository else None
    if listed is not None:
        return sorted(name for name in set(listed) if os.path.lexists(tree / name))
    for sign in (".config", "include/config"):
        if (tree / sign).exists():
            raise InputError(f"{tree} has {sign}: a kernel was built in it; run 'make ARCH=um mrproper' there first")
    return sorted(_walk(tree))


def _walk(tree: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        below = os.path.relpath(folder, tree)
        # Links to folders count as files; os.walk does not follow them.
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.normpath(os.path.join(below, name)) for name in names + links)


def copy(tree: Path, names: Iterable[str], target: Path, clone: Callable[[str, str], bool] | None = None) -> None:
    """Replace `target` by a copy of the named files of a tree, with their times. Share blocks if possible.

    clone: copies a file, and says whether both share their blocks; by default as the filesystem can.
    """
    clone = clone or _clone
    shutil.rmtree(target, ignore_errors=True)
    clonable = True
    made: set[str] = set()
    for name in names:
        folder = os.path.dirname(name)
        if folder not in made:
            os.makedirs(target / folder, exist_ok=True)
            made.add(folder)
        source, copied = f"{tree}/{name}", f"{target}/{name}"
        if clonable and not os.path.islink(source):
            clonable = clone(source, copied)
        else:
            shutil.copyfile(source, copied, follow_symlinks=False)
        shutil.copystat(source, copied, follow_symlinks=False)


def _clone(source: str, target: str) -> bool:
    """Copy a file; return whether both files share their blocks until one is written.

    ioctl_ficlone(2) does this within one filesystem, on Btrfs, XFS and others.
    """
    with open(source, "rb") as given, open(target, "xb") as made:
        try:
            fcntl.ioctl(made, _FICLONE, given.fileno())
        except OSError:
            shutil.copyfileobj(given, made)
            return False
        return True


@contextmanager
def _sealed(tree: Path) -> Iterator["Sealed | None"]:
    """Yield what reads the tree's git repository without its configuration; None if git does not manage it."""
    if not (tree / ".git").exists() or not shutil.which("git"):
        yield None
        return
    with sealed(tree) as repository:
        yield repository


def _content(path: Path) -> bytes:
    """Return what a file of a tree has; of a link, where it leads, of anything else nothing."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(path))
    return path.read_bytes() if stat.S_ISREG(status.st_mode) else b""


# A stranger's git repository, read without its configuration: that may name programs, which git would run as us.
#
# A file monitor, filters of attributes, a diff of one's own, textconv, a transport that fetches what is missing: each
# can be set in .git/config, and more may come. So git works in a repository of our own whose objects, index and tags
# are the tree's. Its configuration is ours, and attributes of the tree name filters that nobody defines.

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
