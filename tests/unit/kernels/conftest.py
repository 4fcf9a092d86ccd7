import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.patchtexts import PATCH as DIFF

from wblab.kernels import apt, catalog

MAKEFILE = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\nEXTRAVERSION = -rc7\n"

PATCH = f"Say hello to the moon.\n---\n{DIFF}"

MAKE = """\
#!/bin/sh
for word; do
    case $word in O=*) objects=${word#O=} ;; KCONFIG_ALLCONFIG=*) config=${word#*=} ;; esac
done
case $* in
*allnoconfig) cp "$config" "$objects/.config"; echo run >> "$(dirname "$0")/runs" ;;
*)
    echo "  CC      init/main.o"
    [ -e "$(dirname "$0")/broken" ] && { echo "init/main.c:1:1: error: no"; exit 2; }
    mkdir -p "$objects/include/config"
    echo 7.3.0 > "$objects/include/config/kernel.release"
    cat "$2/hello.c" > "$objects/linux" ;;
esac
"""

# What `make linux` writes: the parts of a User Mode Linux that the lab reads.
LINUX = r"""
make_linux() {
    printf '\177ELF umid= Linux version 7.3.0 (wblab@localhost) (gcc 1.0, ld 1.0) #1'
    printf IKCFG_ST; gzip -nc "$objects/.config"; printf IKCFG_ED; cat "$2/hello.c"
}
"""


@pytest.fixture(autouse=True)
def own_cache(cache_home: Path) -> None:
    """An empty cache for each test."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree that looks like a kernel tree."""
    root = tmp_path / "linux"
    (root / "arch/um").mkdir(parents=True)
    (root / "arch/um/Kconfig").touch()
    (root / "Makefile").write_text(MAKEFILE)
    (root / "hello.c").write_text("int main(void)\n{ return 0; }\n/* end */\n")
    return root


@pytest.fixture
def git_tree(tree: Path) -> Path:
    """The same tree in git."""
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(tree), *command], check=True)
    return tree


@dataclass(frozen=True)
class Site:
    """A folder like kernel.org's with tarballs of a small tree, and the pins of the small lab."""

    tree: Path
    folder: Path
    pins: Path

    @property
    def url(self) -> str:
        return self.folder.as_uri() + "/v{major}.x"

    def offer(self, version: str) -> str:
        """Add a tarball that contains its version, list it, and return its digest."""
        place = self.folder / "v7.x"
        place.mkdir(parents=True, exist_ok=True)
        (self.tree / "version").write_text(version)
        (self.tree / "Makefile").write_text(MAKEFILE.replace("PATCHLEVEL = 3", f"PATCHLEVEL = {version[2]}"))
        file = place / f"linux-{version}.tar.xz"
        subprocess.run(["tar", "-cf", str(file), "-C", str(self.tree.parent), self.tree.name], check=True)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        with (place / "sha256sums.asc").open("a") as listing:
            listing.write(f"{digest}  {file.name}\n")
        return digest

    def withdraw(self, version: str) -> bytes:
        """Remove a tarball and return it."""
        file = self.folder / f"v7.x/linux-{version}.tar.xz"
        content = file.read_bytes()
        file.unlink()
        listing = self.folder / "v7.x/sha256sums.asc"
        listing.write_text("".join(line for line in listing.open() if f"linux-{version}." not in line))
        return content


@pytest.fixture
def site(tree: Path, tmp_path: Path) -> Site:
    """A site with one release of two series, both pinned."""
    made = Site(tree, tmp_path / "site", tmp_path / "linux-uml/pins.toml")
    made.pins.parent.mkdir()
    for version in ("7.3.1", "7.2.4"):
        with made.pins.open("a") as pins:
            pins.write(f'["{version[:3]}"]\nkernel_org = "{version}"\nsha256 = "{made.offer(version)}"\n')
    made.tree.joinpath("version").unlink()
    made.tree.joinpath("Makefile").write_text(MAKEFILE)
    return made


@pytest.fixture
def lab(tmp_path: Path, site: Site) -> Path:
    """A folder like linux-uml: two series that share one patch, one fragment."""
    folder = tmp_path / "linux-uml"
    for name in ("config", "patches", "series"):
        (folder / name).mkdir()
    (folder / "patches/hello.patch").write_text(PATCH)
    for series in ("7.3", "7.2"):
        (folder / "series" / series).write_text("hello.patch\n")
    (folder / "config/base.config").write_text("CONFIG_64BIT=y  # the host is\n")
    (folder / "kernels.toml").write_text(
        f'default = "7.3"\nkernel_org = "{site.url}"\nsnapshot = "http://127.0.0.1:1"\n[features]\nseed = "um_seed"\n'
        + "".join(
            f'[[series]]\nname = "{name}"\npackage = "linux-source-{name}"\nsuites = ["unstable"]\nsteps = 2\n'
            for name in ("7.3", "7.2")
        )
    )
    return folder


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab: Path) -> Path:
    """Fake programs in the first folder of PATH, with the small catalog."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("make", "gcc", "ld", "flex", "bison", "bc", "xz"):
        (folder / tool).write_text(MAKE if tool == "make" else f"#!/bin/sh\necho {tool} 1.0\n")
        (folder / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    read = catalog.load
    monkeypatch.setattr(catalog, "load", lambda: read(lab))
    monkeypatch.setattr(apt, "find", lambda name, *_: f"apt offers no {name}")
    return folder


@pytest.fixture
def images(tools: Path) -> None:
    """Let the fake make write what looks like kernels."""
    script = (tools / "make").read_text()
    real = script.replace('cat "$2/hello.c" >', 'make_linux "$@" >').replace("#!/bin/sh\n", f"#!/bin/sh\n{LINUX}")
    assert real != script
    (tools / "make").write_text(real)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that changes to another machine, with an empty cache."""

    def go(name: str = "elsewhere") -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        return tmp_path / name / "wblab"

    return go
