import pytest

from wblab.core.errors import WblabError
from wblab.kernels import make

LOG = """\
  CC      fs/ext4/inode.o
fs/ext4/inode.c: In function 'f':
fs/ext4/inode.c:7:2: error: 'x' undeclared (first use in this function)
fs/ext4/inode.c:9:2: warning: this errors out
  CC      mm/vmscan.o
fs/ext4/inode.c:8:2: error: expected ';'
fs/ext4/inode.c:8:2: error: expected ';'
mm/vmscan.c:1:10: fatal error: nowhere.h: No such file or directory
mm/vmscan.c:2:1: error: fourth
make[4]: *** [scripts/Makefile.build:1: fs/ext4/inode.o] Error 1
make: *** [Makefile:248: __sub-make] Error 2
"""


def test_the_compiler_s_own_lines_come_first() -> None:
    assert make.failure(LOG.splitlines()) == [
        "fs/ext4/inode.c:7:2: error: 'x' undeclared (first use in this function)",
        "fs/ext4/inode.c:8:2: error: expected ';'",
        "mm/vmscan.c:1:10: fatal error: nowhere.h: No such file or directory",
        "and 1 more errors",
    ]


def test_the_linker_s_errors_are_reported() -> None:
    assert make.failure(["ld: a.o: in function `f':", "a.c:1: undefined reference to `g'"]) == [
        "a.c:1: undefined reference to `g'"
    ]


def test_without_error_lines_make_s_last_lines_are_reported() -> None:
    lines = ["make[1]: *** No rule to make target 'x'.  Stop.", "make: *** [y] Error 2"]
    assert make.failure(lines) == lines[:1]
    assert make.failure(["all is well"]) == []


def test_make_gets_a_fixed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "MAKELEVEL", "CFLAGS", "CROSS_COMPILE", "ARCH", "KBUILD_OUTPUT", "LANG"):
        monkeypatch.setenv(name, "x")
    environment = make.environment()
    assert set(environment) <= {"PATH", "HOME", "TMPDIR", "CCACHE_DIR", "LC_ALL", "TZ"} | {
        f"KBUILD_BUILD_{name}" for name in ("USER", "HOST", "TIMESTAMP", "VERSION")
    }


def test_missing_tools_are_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    present = set(make.build_tools()) - {"flex", "bc"}
    monkeypatch.setattr("shutil.which", lambda tool: tool if tool in present else None)
    with pytest.raises(WblabError, match=r"needs flex, bc: run '.* bc flex"):
        make.check_tools()
