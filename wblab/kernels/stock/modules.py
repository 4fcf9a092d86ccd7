"""Which modules a kernel needs for a run, each after those that it depends on, without depmod's files.

A distribution's package has no modules.dep before it is installed; each module names its needs itself (modinfo(8)).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.kernels.stock import unpack

_PLAIN = "_generic"
_MOST_BYTES = 256 << 20
_SUFFIX = re.compile(r"\.ko(\.(xz|gz|zst))?$")
_INFO = re.compile(rb"(?:^|\0)([a-z]+)=([^\0]*)(?=\0)")


@dataclass(frozen=True)
class Modules:
    """The modules of a kernel, below /lib/modules/RELEASE."""

    directory: Path

    @cached_property
    def files(self) -> dict[str, Path]:
        """The file of each module by its name, in which - is _."""
        found = {}
        for path in sorted(self.directory.rglob("*.ko*")):
            if _SUFFIX.search(path.name):
                found[_name(_SUFFIX.sub("", path.name))] = path
        return found

    @cached_property
    def built_in(self) -> set[str] | None:
        """Names of the modules that are part of the kernel; None if nothing says it."""
        listed = self.directory / "modules.builtin"
        if not listed.is_file():
            return None
        lines = listed.read_text().splitlines()
        return {_name(_SUFFIX.sub("", Path(line).name)) for line in lines}

    def ordered(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of these modules and of those they need, by name, in an order in which they load.

        Raises InputError for one that the kernel has neither as a module nor built in, as far as that is known.
        """
        found: dict[str, bytes] = {}
        seen = set(self.built_in or ())
        for name in names:
            self._add(_name(name), found, seen, is_wanted=True)
        return found

    def _add(self, name: str, found: dict[str, bytes], seen: set[str], *, is_wanted: bool) -> None:
        if name in seen:  # loaded before, or further up: modules may want each other
            return
        if name not in self.files:
            if is_wanted and self.built_in is not None:
                raise InputError(f"the kernel of {self.directory} has no module {name}: take one that has it")
            return
        seen.add(name)
        content = unpacked(self.files[name])
        depends, before = needs(content)
        for other in depends:
            self._add(other, found, seen, is_wanted=True)
        for other in before:
            self._add(self._file_of(other), found, seen, is_wanted=False)
        found[name] = content

    def _file_of(self, alias: str) -> str:
        """Return the module that an algorithm's alias means, in its plain form: crypto_crc32c is crc32c_generic."""
        name = alias.removeprefix("crypto_")
        return name if name in self.files else f"{name}{_PLAIN}"


def needs(module: bytes) -> tuple[list[str], list[str]]:
    """Return what a module depends on, and what it wants to be loaded before if it is there."""
    depends, before = [], []
    for key, value in _INFO.findall(module):
        text = value.decode(errors="replace")
        if key == b"depends":
            depends += [_name(name) for name in text.split(",") if name]
        elif key == b"softdep" and "pre:" in text:
            before += [_name(name) for name in text.partition("pre:")[2].partition("post:")[0].split()]
    return depends, before


def unpacked(path: Path) -> bytes:
    """Return a module's own bytes. Raises InputError for a file that cannot be read, or is damaged."""
    try:
        data = read_bytes(path, _MOST_BYTES, follow=True)
        return unpack.unpacked(data, _MOST_BYTES) if path.suffix != ".ko" else data
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: give another directory with --modules") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}: install the kernel's package again") from None


def _name(text: str) -> str:
    return text.replace("-", "_")
