"""Put a built kernel into the wheel, and what it was built from. WBLAB_KERNEL names it; else it is the default one."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from string import Template
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from wblab.core.errors import WblabError
from wblab.kernels import Kernel, carry, catalog, find_kernel, identity, patches
from wblab.kernels.carry import SUFFIX
from wblab.kernels.series import name_of

_PLACE = "wblab_kernel"


class KernelHook(BuildHookInterface[Any]):
    """A hook of hatchling's. The tag names the oldest C library with which the kernel runs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files of the kernel, and say where they go in the wheel."""
        self._staged = Path(tempfile.mkdtemp(prefix="wblab-kernel-wheel-"))
        built = find_kernel(os.environ.get("WBLAB_KERNEL") or None)
        if built is None:
            raise WblabError("there is no kernel: run 'make kernel' first")
        write(built, self._staged, Path(self.root, "SOURCE.md"))
        for path in self._staged.rglob("*"):
            if path.is_file():
                build_data["force_include"][str(path)] = f"{_PLACE}/{path.relative_to(self._staged)}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform(built.path.read_bytes())}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files again."""
        shutil.rmtree(self._staged)


def write(built: Kernel, folder: Path, source: Path) -> None:
    """Write what the wheel has of a kernel into a folder. source: the template of its written offer."""
    known = catalog.load()
    about = identity.parse((built.path.parent / "identity.json").read_bytes())
    name = name_of(about, known)
    if name is None:
        raise WblabError(f"{built.path} is no kernel of this checkout: build one of its series")
    digest = carry.pack(built, folder / f"{name}{SUFFIX}")
    (folder / f"{name}.json").write_text(json.dumps(about.values(), indent=2) + "\n")
    (folder / "config").write_bytes((built.path.parent / "config").read_bytes())
    (folder / "patches").mkdir()
    for file in known.patches(name):
        patch = patches.read(file)
        (folder / "patches" / patch.name).write_bytes(patch.data)
    values = about.values() | {
        "name": name,
        "file": f"{name}{SUFFIX}",
        "file_sha256": digest,
        "source_sha256": about.source_identity.removeprefix("sha256:"),
        "patches": "\n".join(f"- `{patch.sha256}` {patch.name}" for patch in about.patches),
    }
    (folder / "SOURCE.md").write_text(Template(source.read_text()).substitute(values))


def platform(linux: bytes) -> str:
    """Return the platform of a wheel with this executable: x86-64 with at least the GNU C library that it asks for."""
    asked = [tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", linux)]
    return f"manylinux_{'_'.join(map(str, max(asked)))}_x86_64" if asked else "linux_x86_64"
