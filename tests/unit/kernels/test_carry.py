"""Kernels moved between machines: packing, adding, and the refusal of hostile archives."""

import gzip
import io
import json
import lzma
import multiprocessing
import os
import shutil
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from wblab.core.errors import InputError, WblabError
from wblab.kernels import build_kernel, carry, find_kernel, packed
from wblab.kernels.packed import KernelPack
from wblab.lab import cache


@pytest.fixture(autouse=True)
def kernels(images: None) -> None:
    """Each test builds what looks like kernels."""


def silent(text: str) -> None:
    raise AssertionError(text)


def pack(tmp_path: Path, wanted: str | None = None, name: str = "kernel.tar.xz") -> Path:
    carry.pack(build_kernel(wanted), tmp_path / name)
    return tmp_path / name


def read(path: Path) -> KernelPack:
    return packed.from_file(path.read_bytes())


def test_an_added_kernel_is_not_rebuilt(tmp_path: Path, tools: Path, elsewhere) -> None:
    built = build_kernel()
    digest = carry.pack(built, tmp_path / "k")
    assert digest == sha256((tmp_path / "k").read_bytes()).hexdigest()
    elsewhere()
    assert find_kernel() is None
    added = carry.add(tmp_path / "k", silent, digest=digest.upper())
    assert added.name == "7.3"
    assert added.kernel.path != built.path
    assert added.kernel.describe() == built.describe()
    assert os.access(added.kernel.path, os.X_OK)
    assert {path.name for path in added.kernel.path.parent.iterdir()} == {"linux", "config", "identity.json"}
    assert build_kernel() == find_kernel("7.3") == added.kernel
    assert len((tools / "runs").read_text().splitlines()) == 1
    assert carry.add(tmp_path / "k", silent) == added  # again


def test_the_local_compiler_does_not_matter(tmp_path: Path, tools: Path, elsewhere) -> None:
    path = pack(tmp_path)
    elsewhere()
    (tools / "gcc").write_text("#!/bin/sh\necho gcc 2.0\n")
    added = carry.add(path, silent)
    assert build_kernel() == added.kernel


def test_the_same_kernel_gives_the_same_file(tmp_path: Path, elsewhere) -> None:
    first = pack(tmp_path).read_bytes()
    elsewhere()  # built once more, with another duration and log
    assert pack(tmp_path, name="second").read_bytes() == first
    elsewhere("third")
    added = carry.add(tmp_path / "second", silent)
    carry.pack(added.kernel, tmp_path / "third.tar.xz")
    assert (tmp_path / "third.tar.xz").read_bytes() == first


def test_variants_keep_their_names(tmp_path: Path, lab: Path, elsewhere) -> None:
    for name, line in (("one", "/* one */"), ("two", "/* two */")):
        (lab / "variants" / name).mkdir(parents=True)
        text = f"--- a/{name}.c\n+++ b/{name}.c\n@@ -0,0 +1 @@\n+{line}\n"
        (lab / "variants" / name / "7.3.patch").write_text(text)
    path = pack(tmp_path, "7.3+two+one")
    elsewhere()
    assert carry.add(path, silent).name == "7.3+two+one"
    assert find_kernel("7.3+two+one")
    assert find_kernel("7.3") is None


def test_options_keep_their_names(tmp_path: Path, lab: Path, elsewhere) -> None:
    (lab / "variants/lean").mkdir(parents=True)
    (lab / "variants/lean/7.2.config").write_text("CONFIG_64BIT=n  # shorter\n")
    for name in ("7.3+lean", "7.3+lean+A=cubic+B=n", "7.3+C=5"):
        path = pack(tmp_path, name, f"{name}.tar.xz")
        elsewhere(name)
        assert carry.add(path, silent).name == name
        assert find_kernel(name)
        assert find_kernel("7.3") is None


@pytest.mark.parametrize("change", ["patch", "option", "pin", "series"])
def test_a_kernel_of_another_checkout_is_usable_only_by_path(
    tmp_path: Path, lab: Path, site, elsewhere, change: str
) -> None:
    path = pack(tmp_path)
    elsewhere()
    if change == "patch":
        (lab / "series/7.3").write_text("")
    elif change == "option":
        (lab / "config/more.config").write_text("CONFIG_MORE=y  # new\n")
    elif change == "pin":
        site.pins.write_text(site.pins.read_text().replace("7.3.1", "7.3.2").replace('sha256 = "', 'sha256 = "0'))
    else:
        toml = (lab / "kernels.toml").read_text().replace('default = "7.3"', 'default = "7.2"')
        (lab / "kernels.toml").write_text(toml.replace('name = "7.3"', 'name = "7.4"'))
    added = carry.add(path, silent)
    assert added.name is None
    assert find_kernel() is None
    assert find_kernel(str(added.kernel.path)) == added.kernel


def test_a_kernel_of_a_user_s_tree_does_not_become_the_series(tmp_path: Path, tree: Path, elsewhere) -> None:
    path = pack(tmp_path, str(tree))
    elsewhere()
    assert carry.add(path, silent).name is None
    assert find_kernel() is None


def test_a_wrong_digest_is_refused(tmp_path: Path, elsewhere) -> None:
    path = pack(tmp_path)
    home = elsewhere()
    with pytest.raises(InputError, match=r"its SHA-256 is [0-9a-f]{64}, not the given one"):
        carry.add(path, silent, digest="0" * 64)
    assert not home.exists()


def test_a_different_file_of_the_same_kernel_is_refused(tmp_path: Path, elsewhere) -> None:
    found = read(pack(tmp_path))
    other = linux(found, found.linux + b"other")
    with pytest.raises(InputError, match="differs from the same kernel in"):
        carry.add(write(tmp_path / "other", tar_of(other)), silent)
    assert find_kernel()


def test_a_damaged_local_kernel_is_replaced(tmp_path: Path) -> None:
    path = pack(tmp_path)
    built = find_kernel()
    assert built
    built.path.write_bytes(b"damaged")
    assert find_kernel() is None
    assert carry.add(path, silent).kernel == built == find_kernel()


def test_the_remains_of_a_killed_process_are_removed(tmp_path: Path, elsewhere) -> None:
    path = pack(tmp_path)
    built = find_kernel()
    assert built
    builds = elsewhere() / "builds"
    cache.room("builds")
    left = builds / f"{built.build_id[:16]}.part"
    left.mkdir()
    (left / "linux").write_text("half")
    carry.add(path, silent)
    assert not left.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_add_leaves_nothing(
    tmp_path: Path, elsewhere, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = pack(tmp_path)
    home = elsewhere()

    def chmod(path: Path, mode: int) -> None:
        raise error

    monkeypatch.setattr(Path, "chmod", chmod)
    with pytest.raises((KeyboardInterrupt, WblabError), match=r"No space left|^$"):
        carry.add(path, silent)
    assert [entry.name for entry in (home / "builds").iterdir() if entry.is_dir()] == []


def _add(path: Path, results: "multiprocessing.Queue[str]") -> None:
    results.put(carry.add(path, lambda _: None).kernel.build_id)


def test_several_processes_may_add_the_same_kernel(tmp_path: Path, elsewhere) -> None:
    path = pack(tmp_path)
    home = elsewhere()
    results: multiprocessing.Queue[str] = multiprocessing.Queue()
    others = [multiprocessing.Process(target=_add, args=(path, results)) for _ in range(4)]
    for other in others:
        other.start()
    assert len({results.get(timeout=60) for _ in others}) == 1
    for other in others:
        other.join()
    assert find_kernel()
    assert [entry.name for entry in (home / "builds").iterdir() if entry.is_dir()] == [find_kernel().build_id[:16]]


def test_only_kernels_built_by_the_lab_are_packed(tmp_path: Path) -> None:
    built = build_kernel()
    mine = tmp_path / "mine"
    shutil.copy(built.path, mine)
    own = find_kernel(str(mine))
    assert own
    with pytest.raises(InputError, match=f"{mine} was not built by the lab"):
        carry.pack(own, tmp_path / "k")
    assert not (tmp_path / "k").exists()


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = pack(tmp_path)
    with pytest.raises(InputError, match="exists: give another name"):
        carry.pack(build_kernel(), path)
    with pytest.raises(InputError, match="cannot write"):
        carry.pack(build_kernel(), tmp_path / "nowhere/k")


def test_a_build_of_an_earlier_version_is_refused_with_the_next_step(tmp_path: Path) -> None:
    built = build_kernel()
    described = built.path.parent / "identity.json"
    values = json.loads(described.read_text())
    del values["options"]
    described.write_text(json.dumps(values))
    with pytest.raises(
        WblabError, match=r"no 'options' .*from an earlier version of the lab: remove the folder and build"
    ):
        carry.pack(built, tmp_path / "k")


# Hostile archives


def tar_of(found: KernelPack) -> bytes:
    return lzma.decompress(packed.to_file(found))


def write(path: Path, tar: bytes) -> Path:
    path.write_bytes(lzma.compress(tar, preset=0))
    return path


def linux(found: KernelPack, content: bytes) -> KernelPack:
    digest = sha256(content).hexdigest()
    return replace(found, linux=content, identity=replace(found.identity, linux_sha256=digest))


def member(name: str, content: bytes = b"", **fields) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def archive(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.USTAR_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as made:
        for info, content in members:
            made.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def usual(found: KernelPack) -> list[tuple[tarfile.TarInfo, bytes]]:
    return [
        member(f"wblab-kernel-1/{name}", content, mode=packed.mode(name)) for name, content in found.files().items()
    ]


def renamed(found: KernelPack, name: str, **fields) -> bytes:
    """The archive with another name or type of its first file."""
    first, *rest = usual(found)
    return archive(member(name, b"" if "type" in fields else first[1], **fields), *rest)


def changed(found: KernelPack, **values) -> bytes:
    """The archive with a changed identity.json."""
    first, *rest = usual(found)
    described = json.loads(first[1]) | values
    text = (json.dumps(described, indent=2) + "\n").encode()
    return archive(member("wblab-kernel-1/identity.json", text, mode=0o644), *rest)


IDENTITY = "wblab-kernel-1/identity.json"
HOSTILE = {
    "empty": (lambda found: b"", "holds no 'identity.json'"),
    "no tar": (lambda found: b"x" * 5000, "holds no 'identity.json'"),
    "absolute": (lambda found: renamed(found, "/etc/passwd"), "holds '/etc/passwd', which is not"),
    "parent": (lambda found: renamed(found, "../../.bashrc"), r"holds '\.\./\.\./\.bashrc', which is not"),
    "escapes": (lambda found: renamed(found, "\x1b]0;x\x07"), r"holds '\\x1b\]0;x\\x07', which is not"),
    "no ASCII": (lambda found: renamed(found, "\u202ex"), "holds no 'identity.json'"),
    "long name": (lambda found: archive(member("x" * 500), form=tarfile.GNU_FORMAT), "LongLink"),
    "pax": (lambda found: archive(member("\u00e4" * 500), form=tarfile.PAX_FORMAT), "PaxHeader"),
    "symbolic link": (
        lambda found: renamed(found, IDENTITY, type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        "the regular file",
    ),
    "hard link": (
        lambda found: renamed(found, IDENTITY, type=tarfile.LNKTYPE, linkname="/etc/shadow"),
        "the regular file",
    ),
    "device": (
        lambda found: renamed(found, IDENTITY, type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        "the regular file",
    ),
    "FIFO": (lambda found: renamed(found, IDENTITY, type=tarfile.FIFOTYPE), "the regular file"),
    "folder": (lambda found: renamed(found, IDENTITY, type=tarfile.DIRTYPE), "the regular file"),
    "sparse": (lambda found: renamed(found, IDENTITY, type=tarfile.GNUTYPE_SPARSE), "the regular file"),
    "repeated": (
        lambda found: archive(*usual(found), usual(found)[2]),
        "differs from a file of 'wblab kernel pack': additional content",
    ),
    "further": (
        lambda found: archive(*usual(found), member("wblab-kernel-1/x")),
        "differs from a file of 'wblab kernel pack': additional content",
    ),
    "missing": (lambda found: archive(*usual(found)[:2]), "holds no 'linux'"),
    "another order": (lambda found: archive(*reversed(usual(found))), "holds 'wblab-kernel-1/linux', which is not"),
    "set-user-ID": (
        lambda found: archive(*usual(found)[:2], member("wblab-kernel-1/linux", found.linux, mode=0o4755)),
        "modes or times",
    ),
    "owner": (lambda found: archive(*usual(found)[:2], member("wblab-kernel-1/linux", found.linux, uid=7)), "owners"),
    "newer format": (lambda found: renamed(found, "wblab-kernel-2/identity.json"), "wblab-kernel-2"),
    "too large": (
        lambda found: archive(member(IDENTITY, b" " * (65 << 10), mode=0o644)),
        "its 'identity.json' is cut off or larger than 64",
    ),
    "negative": (
        lambda found: member(IDENTITY, size=-512)[0].tobuf(tarfile.GNU_FORMAT) + bytes(5120),
        "its 'identity.json' is cut off",
    ),
    "cut off": (lambda found: archive(*usual(found)).partition(b"umid=")[0], "its 'linux' is cut off"),
    "bomb": (lambda found: bytes(140 << 20), "cut off, or it holds more than"),
    "other linux": (lambda found: tar_of(replace(found, linux=found.linux + b"x")), "digest of its 'linux'"),
    "other config": (lambda found: tar_of(replace(found, config=b"CONFIG_X=y\n")), "digest of its 'config'"),
    "no kernel": (lambda found: tar_of(linux(found, b"#!/bin/sh\n")), "its 'linux' is not User Mode Linux"),
    "another release": (
        lambda found: tar_of(linux(found, found.linux.replace(b"version 7.3.0", b"version 7.9.0"))),
        "another release or configuration",
    ),
    "another series": (lambda found: changed(found, series="7.2"), "the series '7.2' for Linux 7.3.0"),
    "no series": (lambda found: changed(found, series="../../x"), "the series '../../x' for Linux 7.3.0"),
    "another configuration": (
        lambda found: tar_of(
            linux(found, found.linux.split(b"IKCFG_ST")[0] + b"IKCFG_ST" + gzip.compress(b"X", mtime=0) + b"IKCFG_ED")
        ),
        "another release or configuration",
    ),
    "no JSON": (
        lambda found: archive(member(IDENTITY, b"x", mode=0o644), *usual(found)[1:]),
        "is not a packed kernel",
    ),
    "deep JSON": (
        lambda found: archive(member(IDENTITY, b"[" * 60000, mode=0o644), *usual(found)[1:]),
        "nested too deeply",
    ),
    "an array": (lambda found: archive(member(IDENTITY, b"[]", mode=0o644), *usual(found)[1:]), "holds no object"),
    "further key": (
        lambda found: changed(found, path="/bin/sh"),
        "differs from a file of 'wblab kernel pack': additional content",
    ),
    "text for patches": (lambda found: changed(found, patches="x"), "no 'patches'"),
    "patch without name": (lambda found: changed(found, patches=[{}]), "no 'name'"),
    "number for text": (lambda found: changed(found, release=7), "no 'release'"),
    "true for a method": (lambda found: changed(found, method=True), "no 'method'"),
    "escape in text": (lambda found: changed(found, source="\x1b[2J"), "no 'source' that is a line of text"),
    "no digest": (lambda found: changed(found, build_id="../../x"), "'build_id' that is no SHA-256"),
    "id of another": (lambda found: changed(found, build_id="0" * 64), "its build id does not follow from"),
    "other patches": (lambda found: changed(found, patches=[]), "its build id does not follow from"),
    "other options": (lambda found: changed(found, options="CONFIG_X=y\n"), "its build id does not follow from"),
    "other compiler": (lambda found: changed(found, compiler="gcc 9"), "its build id does not follow from"),
    "other source": (lambda found: changed(found, source_identity="sha256:1"), "its build id does not follow from"),
}


@pytest.fixture(scope="module")
def made() -> dict[str, KernelPack]:
    """One packed kernel for all attacks."""
    return {}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_hostile_archive_gets_one_line_and_writes_nothing(
    tmp_path: Path, made: dict[str, KernelPack], elsewhere, attack: str
) -> None:
    if not made:
        made["kernel"] = read(pack(tmp_path))
    change, words = HOSTILE[attack]
    home = elsewhere()
    path = write(tmp_path / "hostile", change(made["kernel"]))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=words) as raised:
        carry.add(path, silent)
    assert str(raised.value).isprintable()
    assert not home.exists()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cut off"),
        (b"x" * 100, "not compressed with xz"),
        (lzma.compress(b"")[:20], "cut off"),
        (lzma.compress(b"") + b"more", "there is more data after"),
        (lzma.compress(b"", format=lzma.FORMAT_ALONE), "not compressed with xz"),
        (lzma.compress(b"", preset=9), "holds no 'identity.json'|not compressed with xz"),
        (gzip.compress(b"", mtime=0), "not compressed with xz"),
    ],
)
def test_a_file_that_is_not_an_archive_is_refused(tmp_path: Path, elsewhere, content: bytes, words: str) -> None:
    (tmp_path / "k").write_bytes(content)
    home = elsewhere()
    with pytest.raises(InputError, match=words):
        carry.add(tmp_path / "k", silent)
    assert not home.exists()


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, words in (
        (tmp_path / "fifo", "not a regular file"),
        (tmp_path, "irectory|not a regular file"),
        (tmp_path / "n", "No such"),
    ):
        with pytest.raises(InputError, match=words):
            carry.add(path, silent)


def test_an_oversized_archive_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "k").open("wb") as file:
        file.truncate(packed.MOST_BYTES + 1)
    with pytest.raises(InputError, match="longer than 64"):
        carry.add(tmp_path / "k", silent)


def test_nulls_between_parts_cannot_be_smuggled_in(tmp_path: Path, elsewhere) -> None:
    """Options that hold a patch's name and digest have the same hash as that patch."""
    found = read(pack(tmp_path))
    patch = found.identity.patches[0]
    options = f"{found.identity.options}\0{patch.name}\0{patch.sha256}"
    replace(found.identity, patches=(), options=options).check()  # the same id
    elsewhere()
    with pytest.raises(InputError, match="no 'options' that is a line of text"):
        carry.add(write(tmp_path / "h", changed(found, patches=[], options=options)), silent)
