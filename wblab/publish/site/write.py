"""The directory of a site: written beside its place, then put there whole. Only a site's own files are replaced."""

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import SITE
from wblab.lab.held import held, through
from wblab.machine.directory import workroom
from wblab.publish.site.page import File

MARK = "site.json"  # lists the site's files


def check_place(out: Path) -> None:
    """Raise InputError unless a site can be written there: nothing is there, an empty directory, or an earlier site."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise InputError(f"{out} is not a directory: choose another place for the site")
    if not out.parent.is_dir():
        raise InputError(f"there is no directory {out.parent}: make it first")
    if not out.exists() or not any(out.iterdir()):
        return
    if not (out / MARK).is_file():
        raise InputError(f"{out} holds other files and no site: choose a new directory")
    known = {MARK, *_listed(out)}
    there = (path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or not path.is_dir())
    if strange := sorted(set(there) - known):
        raise InputError(f"{out} holds {strange[0]}, which is not of the site: move it away, or choose a new directory")


def write(out: Path, files: Iterable[File]) -> int:
    """Write a site, replace an earlier one, and return the number of files. Raises InputError and WblabError."""
    check_place(out)
    with ExitStack() as stack:
        try:
            parent = stack.enter_context(held(out.parent))
            room = stack.enter_context(workroom(parent, out.name))
        except OSError as error:
            raise InputError(f"cannot write into {out.parent}: {error.strerror}") from None
        try:
            (room / "new").mkdir()
            count = _fill(room / "new", files)
            (room / "new").chmod(0o755)
            _swap(room, through(parent) / out.name)
        except OSError as error:
            raise WblabError(f"cannot write the site: {error.filename or out}: {error.strerror}") from None
    return count


def _fill(staged: Path, files: Iterable[File]) -> int:
    addresses: set[str] = set()
    for file in files:
        if file.address in addresses:
            raise WblabError(f"two pages of the site have the address {file.address}")
        addresses.add(file.address)
        path = staged / file.address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    text = json.dumps(SITE.head() | {"files": sorted(addresses)}, indent=1)
    (staged / MARK).write_text(text + "\n")
    return len(addresses)


def _swap(room: Path, out: Path) -> None:
    """Put the new site in its place. Where that fails, the earlier one stays."""
    if not os.path.lexists(out):
        os.rename(room / "new", out)
        return
    os.rename(out, room / "earlier")
    try:
        os.rename(room / "new", out)
    except OSError:
        os.rename(room / "earlier", out)
        raise


def _listed(out: Path) -> list[str]:
    files = SITE.read(out / MARK).get("files")
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise InputError(f"{out / MARK} is damaged: it lists no files")
    return files
