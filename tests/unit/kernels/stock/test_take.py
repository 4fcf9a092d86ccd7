"""A distribution's kernel is taken into the cache, whole or not at all."""

import io
import json
import os
import re
import shutil
import tarfile

import pytest
from support.stockkernels import NAMES, PACKS, bzimage, module, modules

from wblab.cli import main
from wblab.core.errors import InputError, WblabError
from wblab.kernels.stock import take as stock_take
from wblab.kernels.stock.stockkernel import find, stock_kernels
from wblab.kernels.stock.take import names, release_of, take, unpacked
from wblab.lab import cache
from wblab.lab.progress import silent

FILES = {f"{name}.ko": module(depends="") for name in ("configfs", "null_blk", "ext4", "snd")}


@pytest.fixture
def directory(tmp_path):
    return modules(tmp_path / "modules", FILES)


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "vmlinuz"
    path.write_bytes(bzimage())
    return path


@pytest.mark.parametrize("pack", PACKS)
def test_a_kernel_is_taken_with_the_modules_that_runs_need(image, directory, pack):
    image.write_bytes(bzimage("7.2.11-arch1-1", pack=PACKS[pack]))
    kernel = take(image, directory, "here")
    assert (kernel.series, kernel.release, kernel.source) == ("7.2", "7.2.11-arch1-1", "here")
    assert sorted(path.stem for path in kernel.modules.iterdir()) == ["configfs", "ext4", "null_blk"]
    assert kernel.held(["balance_dirty_pages", "ext_event", "nothing"]) == {"balance_dirty_pages", "ext_event"}
    assert "modules" not in json.dumps(kernel.describe())


def test_a_driver_is_one_of_its_own_if_all_its_modules_are_there(image, directory):
    assert take(image, directory, "here").drivers == ()
    for name in ("xhci_pci", "usb_storage", "uas", "virtio_blk"):
        (directory / f"{name}.ko").write_bytes(module(depends=""))
    (directory / "modules.builtin").write_text("kernel/sd_mod.ko\nkernel/virtio_pci.ko\n")
    kernel = take(image, directory, "here")
    assert kernel.drivers == ("usb-storage", "uas", "virtio")
    assert find(f"stock:{kernel.release}+uas").driver == "uas"
    assert {"uas", "virtio_blk"} <= {path.stem for path in kernel.modules.iterdir()}


@pytest.mark.parametrize(
    ("release", "series"), [("6.12+", "6.12"), ("7.3-rc2", "7.3"), ("6.8.0-45-generic", "6.8"), ("6.1.0_1", "6.1")]
)
def test_the_series_is_the_first_two_numbers(image, directory, release, series):
    image.write_bytes(bzimage(release))
    assert take(image, directory, "here").series == series
    assert find(f"stock:{series}").release == release
    assert find(f"stock:{release}@4").processors == 4


def test_a_kernel_is_taken_again_while_runs_read_it(image, directory):
    first = take(image, directory, "here")
    with os.scandir(first.modules), first.path.open("rb") as held:
        again = take(image, directory, "there")
        assert held.read() == image.read_bytes()
    assert (again.path, again.source) == (first.path, "there")
    assert [path.name for path in first.path.parents[1].iterdir()] == [first.path.parent.name]


def test_of_two_builds_with_one_release_the_last_taken_is_used(image, directory):
    for text in (b"\0one\0", b"\0two\0", b"\0three\0"):
        image.write_bytes(bzimage(kernel=text))
        last = take(image, directory, "here")
        assert find("stock:7.2").build_id == last.build_id
    assert len(stock_kernels()) == 3


def test_a_full_disk_leaves_no_half_of_a_kernel(image, directory, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stock_take.cache, "write_json", full)
    with pytest.raises(WblabError, match=r"cannot write to .*stock: No space left on device: make room"):
        take(image, directory, "here")
    assert list((cache.home() / "stock").iterdir()) == []


@pytest.mark.parametrize("lost", ["vmlinuz", "names.txt", "modules", "stock.json"])
def test_an_incomplete_kernel_is_not_there(image, directory, lost):
    folder = take(image, directory, "here").path.parent
    shutil.rmtree(folder / lost) if lost == "modules" else (folder / lost).unlink()
    assert find("stock:7.2") is None
    take(image, directory, "here")
    assert find("stock:7.2")


def test_its_configuration_is_kept(image, directory, tmp_path):
    (tmp_path / "config").write_text("CONFIG_SMP=y\n")
    kernel = take(image, directory, "here", tmp_path / "config")
    assert kernel.config.read_text() == "CONFIG_SMP=y\n"


def test_missing_modules_are_said(image, tmp_path):
    with pytest.raises(InputError, match="give --modules DIR, such as /lib/modules/RELEASE"):
        take(image, tmp_path / "nowhere", "here")
    with pytest.raises(InputError, match="has no module configfs: take one that has it"):
        take(image, modules(tmp_path / "few", {}), "here")


@pytest.mark.parametrize("release", ["", "../../x", "7", "seven", "7.2/../../x", "7.2\x1b[2J"])
def test_an_image_with_an_odd_release_is_refused(release):
    with pytest.raises(ValueError, match="its image names no release"):
        release_of(bzimage(release))


def test_hostile_images_are_refused_in_one_line(image, capsys):
    whole = bzimage()
    for content in (b"", b"\x7fELF", whole[:0x206], whole[:0x210], whole[:0x301], whole[:0x206] + bytes(10)):
        image.write_bytes(content)
        assert main(["kernel", "build", "--stock", str(image)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"wblab: {image}: it")
        assert said.endswith(": give a file such as /boot/vmlinuz\n")
        assert said.count("\n") == 1


def test_what_is_no_file_is_refused_at_once(tmp_path, capsys):
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    reasons = {
        tmp_path: "it is not a regular file",
        tmp_path / "fifo": "it is not a regular file",
        tmp_path / "huge": "it is longer than 256 MiB",
        tmp_path / "nothing": "No such file or directory",
        "/dev/zero": "it is not a regular file",
        "": "it is not a regular file",
    }
    for path, reason in reasons.items():
        assert main(["kernel", "build", "--stock", str(path)]) == 2
        said = capsys.readouterr().err
        assert said.endswith(f": {reason}: give a series or a kernel's file\n")
        assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["stock:7.2", "stock:7.2@4", "7.2+hz-1000"])
def test_a_name_that_runs_use_is_no_series(name, capsys):
    assert main(["kernel", "build", "--stock", name]) == 2
    assert capsys.readouterr().err == f"wblab: no series or file '{name}': give a plain series, such as 7.2\n"


def test_options_that_do_not_belong_together_are_refused(image, tmp_path, capsys):
    assert main(["kernel", "build", "--stock", "7.2", "--modules", str(tmp_path)]) == 2
    assert main(["kernel", "build", "--stock", str(image), "--refresh"]) == 2
    assert capsys.readouterr().err.count("leave it out") == 2


def test_a_kernels_file_is_taken_by_the_verb(image, directory, capsys):
    assert main(["kernel", "build", "--stock", str(image), "--modules", str(directory)]) == 0
    assert capsys.readouterr().out == "stock:7.2.11-test\n"
    assert main(["kernel", "info", "stock:7.2"]) == 0


@pytest.mark.parametrize("pack", PACKS)
def test_names_are_found_in_the_packed_kernel_and_in_modules(pack):
    found = names(bzimage(pack=PACKS[pack]), [module()])
    assert {"balance_dirty_pages", "block_rq_complete", "ext_event"} <= found
    assert not any(" " in name for name in found)


@pytest.mark.parametrize("pack", PACKS)
def test_the_kernel_is_unpacked_whole(pack):
    assert unpacked(bzimage(pack=PACKS[pack])) == NAMES


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("kept", [0, 8, 0.5])
def test_a_kernel_that_is_cut_off_cannot_be_read(pack, kept):
    def cut(kernel: bytes) -> bytes:
        packed = PACKS[pack](kernel)
        return packed[: int(kept * len(packed)) if kept < 1 else kept]

    with pytest.raises(ValueError, match=r"cut off|packed in a way|cannot be unpacked"):
        unpacked(bzimage(pack=cut, kernel=NAMES * 100))


@pytest.mark.parametrize("pack", PACKS)
def test_a_spoilt_kernel_cannot_be_read(pack):
    def spoil(kernel: bytes) -> bytes:
        packed = PACKS[pack](kernel)
        return packed[:10] + bytes(byte ^ 0xA5 for byte in packed[10:])

    with pytest.raises(ValueError, match=r"cut off|cannot be unpacked"):
        unpacked(bzimage(pack=spoil, kernel=NAMES * 100))


@pytest.mark.parametrize("length", [0, 100, 0x1F2, 0x24A, 0x24F])
def test_an_image_without_a_whole_head_cannot_be_read(length):
    with pytest.raises(ValueError, match="cut off"):
        unpacked(bzimage()[:length])


def test_an_unknown_packing_is_said():
    with pytest.raises(ValueError, match="packed in a way that the lab does not know"):
        unpacked(bzimage(pack=lambda kernel: b"LZ4!" + kernel))


MODULES = "./usr/lib/modules/7.2.11"
KEPT = (
    "./boot/vmlinuz-7.2.11",
    "./boot/config-7.2.11",
    f"{MODULES}/config",
    f"{MODULES}/kernel/fs/ext4/ext4.ko.xz",
    f"{MODULES}/modules.builtin",
)
HOSTILE = ("./boot/vmlinuz-/../../../outside", f"{MODULES}/kernel/fs/../../../../../../outside.ko", "/boot/vmlinuz-x")


def packed(*names: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("./boot/vmlinuz-link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()


@pytest.fixture
def unpack(tmp_path, monkeypatch):
    """Return a function that unpacks what a dpkg-deb in its place prints; it returns the files."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")

    def unpack(content: bytes, code: int = 0) -> set[str]:
        (tmp_path / "tar").write_bytes(content)
        (tmp_path / "bin/dpkg-deb").write_text(f"#!/bin/sh\ncat {tmp_path}/tar\nexit {code}\n")
        (tmp_path / "bin/dpkg-deb").chmod(0o755)
        (tmp_path / "a.deb").touch()
        before = set(tmp_path.parent.iterdir())
        stock_take._unpack(tmp_path / "a.deb", tmp_path / "root", silent)
        assert set(tmp_path.parent.iterdir()) == before
        return {f"./{path.relative_to(tmp_path / 'root')}" for path in (tmp_path / "root").rglob("*") if path.is_file()}

    return unpack


def test_only_the_kernels_files_are_taken(unpack):
    others = ("./usr/share/doc/x", f"{MODULES}/kernel/sound/snd.ko", "./boot/System.map-7.2.11")
    assert unpack(packed(*KEPT, *others)) == set(KEPT)


@pytest.mark.parametrize("part", ["image", "base", "binary", "modules"])  # Debian 12 has the first only
def test_a_kernel_is_in_several_packages(part):
    pattern = stock_take._PACKAGE.format(series=r"7\.2")
    assert re.fullmatch(pattern, f"linux-{part}-7.2.11+deb13-amd64")
    assert not re.fullmatch(pattern, f"linux-{part}-7.21+deb13-amd64")


def test_no_name_leads_out_of_the_directory(unpack):
    assert unpack(packed(*HOSTILE)) == set()


@pytest.mark.parametrize(("content", "code"), [(b"no tar at all" * 99, 1), (packed(*KEPT)[:700], 2)])
def test_a_damaged_package_is_said(unpack, content, code):
    with pytest.raises(WblabError, match=r"cannot unpack a\.deb: is it whole\?"):
        unpack(content, code)
