import subprocess
from pathlib import Path

import pytest

MAKEFILE = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\nEXTRAVERSION = -rc7\n"

PATCH = """\
Say hello to the moon.
---
--- a/hello.c
+++ b/hello.c
@@ -1,3 +1,3 @@
 int main(void)
-{ return 0; }
+{ return 1; }
 /* end */
"""


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a cache of its own."""
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home / "wblab"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that looks like a kernel's."""
    root = tmp_path / "linux"
    (root / "arch/um").mkdir(parents=True)
    (root / "arch/um/Kconfig").touch()
    (root / "Makefile").write_text(MAKEFILE)
    (root / "hello.c").write_text("int main(void)\n{ return 0; }\n/* end */\n")
    return root


@pytest.fixture
def git_tree(tree: Path) -> Path:
    """The same tree, in git."""
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(tree), *command], check=True)
    return tree


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder like linux-uml: two series, one patch for each, one fragment."""
    folder = tmp_path / "linux-uml"
    for series in ("7.3", "7.2"):
        (folder / "patches" / series).mkdir(parents=True)
        (folder / "patches" / series / "0001-hello.patch").write_text(PATCH)
    (folder / "config").mkdir()
    (folder / "config/base.config").write_text("CONFIG_64BIT=y  # the host is\n")
    (folder / "kernels.toml").write_text(
        'default = "7.3"\nkernel_org = "https://kernel.invalid/v{major}.x"\n[features]\nseed = "um_seed"\n'
        + "".join(
            f'[[series]]\nname = "{name}"\npackage = "linux-source-{name}"\nsuites = ["unstable"]\nsteps = 2\n'
            for name in ("7.3", "7.2")
        )
    )
    return folder
