"""From a wanted kernel to a built one, with a fake `make`."""

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.core.errors import InputError, WblabError
from wblab.kernels import build_kernel, build_tree, built_kernel, catalog, find_kernel, list_kernels, make
from wblab.kernels.identity import recipe
from wblab.kernels.pins import Pin
from wblab.lab.results import is_held

pytestmark = pytest.mark.usefixtures("tools")


def runs(tools: Path) -> int:
    path = tools / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_the_default_is_built_once_and_found_again(tools: Path) -> None:
    assert find_kernel() is None
    shares: list[float | None] = []
    built = build_kernel(report=lambda share, text: shares.append(share))
    assert "return 1" in built.path.read_text()  # patched
    assert (built.series, built.release, built.patches) == ("7.3", "7.3.0", ("0001-hello.patch",))
    assert 0.5 in shares
    assert {path.name for path in built.path.parent.iterdir()} == {"linux", "config", "build.log", "identity.json"}
    assert not list(built.path.parent.parent.glob("*.work"))
    assert build_kernel() == build_kernel("7.3") == find_kernel() == find_kernel("7.3") == built
    assert runs(tools) == 1
    assert find_kernel("7.2") is None
    assert [entry.kernel for entry in list_kernels()] == [built, None]
    identity = json.loads((built.path.parent / "identity.json").read_text())
    assert identity["compiler"] == "gcc 1.0, ld 1.0"
    assert len(identity["patches"][0]["sha256"]) == 64
    assert f"$ make -C {built.path.parent}.work/tree" in (built.path.parent / "build.log").read_text()


def test_a_changed_cached_kernel_is_rebuilt(tools: Path) -> None:
    built = build_kernel()
    text = built.path.read_text()
    built.path.write_text(text + "changed")
    assert find_kernel() is None
    with pytest.raises(InputError, match="not built"):
        built_kernel("")
    assert build_kernel().path.read_text() == text
    assert runs(tools) == 2


def test_every_input_changes_the_build_id(lab: Path) -> None:
    def key(identity: str = "sha256:1", compiler: str = "gcc 1") -> str:
        return recipe("7.3", catalog.load()).key(identity, compiler)

    seen = {key(), key(identity="sha256:2"), key(compiler="gcc 2")}
    fragment, patch, listed = lab / "config/base.config", lab / "patches/hello.patch", lab / "series/7.3"
    fragment.write_text("CONFIG_64BIT=y  # another reason\n")
    listed.write_text("# another comment\nhello.patch\n")
    (lab / "patches/b.patch").write_text("b")
    assert key() in seen
    changes = [(fragment, "CONFIG_64BIT=n  # no\n"), (patch, "other"), (listed, "hello.patch\nb.patch\n")]
    for path, text in [*changes, (listed, "b.patch\nhello.patch\n")]:
        path.write_text(text)
        assert key() not in seen
        seen.add(key())


def test_changed_patches_make_a_kernel_stale(lab: Path, tools: Path) -> None:
    built = build_kernel()
    (lab / "series/7.3").write_text("")
    assert find_kernel() is None
    assert build_kernel().build_id != built.build_id
    assert runs(tools) == 2


def test_patches_that_change_during_a_build_are_not_those_of_the_built_kernel(lab: Path, tools: Path) -> None:
    script = (tools / "make").read_text()
    changes = f"#!/bin/sh\necho >> {lab}/patches/hello.patch\n"
    (tools / "make").write_text(script.replace("#!/bin/sh\n", changes, 1))
    first = build_kernel()
    assert find_kernel() is None
    (tools / "make").write_text(script)
    assert build_kernel().build_id != first.build_id


def test_an_older_series_replaces_a_default_without_a_source(site) -> None:
    kept = site.withdraw("7.3.1")
    said: list[str] = []
    built = build_kernel(say=said.append)
    assert said[0].startswith("kernel 7.2 instead of 7.3: cannot fetch file:")
    assert said[1] == "'wblab kernel build 7.3' looks again"
    assert built.instead_of == "7.3"
    assert find_kernel() == build_kernel() == built
    (site.folder / "v7.x/linux-7.3.1.tar.xz").write_bytes(kept)
    assert build_kernel("7.3").instead_of is None
    assert build_kernel() == find_kernel() == build_kernel("7.3") != built


def test_the_variant_that_is_built_first_stands_in_until_the_whole_kernel_is_built(lab: Path) -> None:
    (lab / "variants/lean").mkdir(parents=True)
    (lab / "variants/lean/7.3.config").write_text("CONFIG_XFS_FS=n  # less to compile\n")
    first = build_kernel("7.3+lean")
    assert find_kernel() == replace(first, instead_of="7.3")
    assert find_kernel("7.3") is None
    whole = build_kernel()
    assert find_kernel() == whole
    assert whole.build_id != first.build_id


def test_no_source_at_all_gives_the_reason(site) -> None:
    for version in ("7.3.1", "7.2.4"):
        site.withdraw(version)
    with pytest.raises(WblabError, match=r"for 7\.3: cannot fetch .*has no linux-7\.3; name a tree or a tarball"):
        build_kernel()
    with pytest.raises(WblabError, match=r"no source for kernel 7\.2: cannot fetch"):
        build_kernel("7.2")


def test_a_kernel_is_found_when_its_source_is_gone(site, cache_home: Path) -> None:
    built = build_kernel()
    shutil.rmtree(cache_home / "trees")
    shutil.rmtree(site.folder)
    assert build_kernel("7.3") == find_kernel() == built


def test_newer_releases_do_not_matter_until_the_pin_moves(site, tools: Path) -> None:
    built = build_kernel()
    newer = site.offer("7.3.2")
    assert build_kernel() == build_kernel("7.3") == built
    said: list[str] = []
    moved = build_kernel(refresh=True, say=said.append)
    assert said == ["7.3 is now pinned to kernel.org linux-7.3.2; before: kernel.org linux-7.3.1"]
    assert (moved.source, moved.instead_of) == ("kernel.org linux-7.3.2", None)
    assert find_kernel() == moved != built
    assert (list_kernels()[0].source, list_kernels()[0].pin) == (moved.source, Pin("kernel_org", "7.3.2", newer))
    assert build_kernel("7.3", refresh=True, say=said.append) == moved
    assert said[1:] == ["7.3 is still pinned to kernel.org linux-7.3.2: there is nothing newer"]
    assert 'kernel_org = "7.2.4"' in site.pins.read_text()
    assert runs(tools) == 2


def test_a_missing_source_is_replaced_with_a_message(site, tools: Path) -> None:
    pinned = site.pins.read_text()
    site.offer("7.3.2")
    kept = site.withdraw("7.3.1")
    said: list[str] = []
    built = build_kernel("7.3", say=said.append)
    assert (built.source, built.instead_of) == ("kernel.org linux-7.3.2", "kernel.org linux-7.3.1")
    assert said[0].startswith("kernel.org linux-7.3.2 instead of kernel.org linux-7.3.1: cannot fetch file:")
    assert built.describe()["instead_of"] == "kernel.org linux-7.3.1"
    assert find_kernel() == build_kernel("7.3", say=said.append) == built
    assert said[1].startswith("kernel.org linux-7.3.2 is used instead of kernel.org linux-7.3.1: ")
    assert site.pins.read_text() == pinned
    (site.folder / "v7.x/linux-7.3.1.tar.xz").write_bytes(kept)
    again = build_kernel("7.3")
    assert (again.source, again.instead_of) == ("kernel.org linux-7.3.1", None)


def test_a_fetched_source_must_match_its_pin(site) -> None:
    (site.folder / "v7.x/linux-7.3.1.tar.xz").write_bytes(b"something else")
    with pytest.raises(WblabError, match=r"linux-7\.3\.1\.tar\.xz has the wrong digest"):
        build_kernel("7.3")


def test_moving_a_pin_needs_a_writable_checkout(site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != site.pins)
    with pytest.raises(
        InputError, match=rf"--refresh writes {site.pins}, and you have no permission: use your own checkout"
    ):
        build_kernel(refresh=True)


def test_a_tree_has_no_pin(tree: Path) -> None:
    with pytest.raises(InputError, match="--refresh moves the pin of a series"):
        build_kernel(str(tree), refresh=True)


def test_a_user_s_tree_is_built_from_a_copy(tree: Path, tools: Path) -> None:
    before = sorted(tree.rglob("*"))
    built = build_kernel(str(tree))
    assert "return 1" in built.path.read_text()
    assert "return 0" in (tree / "hello.c").read_text()
    assert sorted(tree.rglob("*")) == before
    assert find_kernel(str(tree)) == built
    (tree / "hello.c").write_text("int main(void)\n{ return 1; }\n/* end */\n")  # the patch, by hand
    assert find_kernel(str(tree)) is None
    assert "return 1" in build_kernel(str(tree)).path.read_text()
    assert runs(tools) == 2


def test_a_tree_of_no_series_gets_the_patches_that_apply(tree: Path) -> None:
    (tree / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 9\n")
    said: list[str] = []
    assert build_kernel(str(tree), say=said.append).series == "7.9"
    assert said == ["7.9: 1 patch chosen by what applies"]


def test_all_states_of_a_tree_share_objects_and_leave_no_copy(tree: Path, lab: Path, cache_home: Path) -> None:
    def how() -> str:
        built = build_tree(tree, "here", cache_home / "bisect/linux/objects")
        assert not list(cache_home.glob("bisect/*/*/tree"))
        return (built.path.parent / "build.log").read_text().partition("\n")[0]

    assert how() == "# built whole: no objects are kept"
    patch = lab / "patches/hello.patch"
    patch.write_text(patch.read_text().replace("return 1", "return 2"))
    assert how() == "# the objects of the last build are used"


def test_the_lock_lives_as_long_as_make(tools: Path, cache_home: Path) -> None:
    """Also if the lab is killed: the next build would meet a make that still writes objects."""
    script = f"#!/bin/sh\necho run >> {tools}/runs\nwhile [ ! -e {tools}/go ]; do sleep 0.02; done\n"
    (tools / "make").write_text(script)
    child = os.fork()
    if not child:
        build_kernel("7.3")
        os._exit(0)
    try:
        wait_until(lambda: runs(tools) == 1)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    (lock,) = cache_home.glob("builds/*.work.lock")
    assert is_held(lock)
    (tools / "go").touch()
    wait_until(lambda: not is_held(lock))


def test_a_failed_make_keeps_its_log_and_names_it(tree: Path, tools: Path) -> None:
    (tools / "broken").touch()
    with pytest.raises(WblabError, match=r"make failed: init/main\.c:1:1: error: no; see (\S+\.log)$") as raised:
        build_kernel(str(tree))
    assert "CC      init/main.o" in Path(str(raised.value).rpartition(" ")[2]).read_text()
    (tools / "broken").unlink()
    assert build_kernel(str(tree)).path.exists()


def test_a_patch_that_does_not_apply_is_named(tree: Path) -> None:
    (tree / "hello.c").write_text("nothing like it\n")
    with pytest.raises(WblabError, match=r"hello\.patch does not apply to .*linux: hunk 1 of hello\.c"):
        build_kernel(str(tree))
    assert find_kernel(str(tree)) is None


def test_the_patches_of_another_series_are_taken_if_those_of_the_own_do_not_apply(tree: Path, lab: Path) -> None:
    plain = build_kernel(str(tree))
    (tree / "hello.c").write_text("int main(void)\n{ return 5; }\n/* end */\n")
    own = (lab / "patches/hello.patch").read_text()
    (lab / "patches/hello@7.2.patch").write_text(own.replace("return 0", "return 5"))
    (lab / "series/7.2").write_text("hello@7.2.patch\n")
    said: list[str] = []
    built = build_kernel(str(tree), say=said.append)
    assert "return 1" in built.path.read_text()
    assert said == ["7.3: 1 patch chosen by what applies"]
    assert built.patches == plain.patches == ("0001-hello.patch",)
    assert built.build_id != plain.build_id


@pytest.mark.parametrize("wanted", ["7.4", "./7.4", "/nowhere/linux"])
def test_an_unknown_kernel_name_is_refused(wanted: str) -> None:
    for function in (find_kernel, build_kernel):
        with pytest.raises(InputError, match=wanted):
            function(wanted)


def test_a_cache_with_a_space_is_refused_before_anything_runs(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    with pytest.raises(InputError, match="XDG_CACHE_HOME"):
        build_kernel(str(tree))
    assert runs(tools) == 0


def test_a_missing_compiler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert make.compiler() == "no gcc, no ld"
    with pytest.raises(WblabError, match="building a kernel needs gcc"):
        make.check_tools()


def test_options_make_another_kernel_with_their_name(tools: Path) -> None:
    plain, changed = build_kernel(), build_kernel("7.3+X=y+64BIT=n")
    assert changed.config
    assert changed.config.read_text() == "# CONFIG_64BIT is not set\nCONFIG_X=y\n"
    assert plain.build_id != changed.build_id
    assert find_kernel("7.3+64BIT=n+X=y") == find_kernel("+X=y+64BIT=n") == build_kernel("+64BIT=n+X=y") == changed
    assert runs(tools) == 2
    first, second = list_kernels()
    assert (first.kernel, first.configured) == (plain, {"7.3+64BIT=n+X=y": changed})
    assert second.configured == {}
    assert find_kernel("7.3+64BIT=n") is None
    with pytest.raises(InputError, match=r"kernel 7\.3\+A=y is not built .* 'wblab kernel build 7\.3 --config A=y'"):
        built_kernel("7.3+A=y")
    with pytest.raises(InputError, match=r"the default kernel\+A=y is .* 'wblab kernel build --config A=y'"):
        built_kernel("+A=y")


def test_options_that_change_nothing_are_the_same_kernel(tools: Path) -> None:
    assert build_kernel() == find_kernel("7.3+64BIT=y")
    assert runs(tools) == 1


def test_a_tree_is_built_with_options_and_an_executable_is_not(tree: Path, tools: Path) -> None:
    built = build_kernel(f"{tree}+X=y")
    assert built.config
    assert "CONFIG_X=y" in built.config.read_text()
    assert find_kernel(f"{tree}+X=y") == built != build_kernel(str(tree))
    assert built_kernel(f"{tree}+X=y", given=[str(tree)]) == built
    with pytest.raises(InputError, match="a spec may not choose a path by itself"):
        built_kernel(f"{tree}+X=y")
    built.path.write_bytes(b"\x7fELF")
    with pytest.raises(InputError, match=r"linux is built already: leave out its options, X, or name a kernel tree"):
        find_kernel(f"{built.path}+X=y")
