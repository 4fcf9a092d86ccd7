"""Names of stock kernels, and the cache that they are in."""

import json
from pathlib import Path

import pytest

from wblab.cli import main
from wblab.core.errors import InputError, WblabError
from wblab.kernels.stock.stockkernel import find, how_to_get, parse, stock_kernels
from wblab.kernels.wanted import built_kernel
from wblab.lab import cache


def keep(release: str, *drivers: str) -> None:
    folder = cache.room("stock", release)
    (folder / "modules").mkdir()
    for name in ("vmlinuz", "names.txt"):
        (folder / name).touch()
    series = ".".join(release.split(".")[:2])
    identity = {"series": series, "release": release, "config_sha256": "", "build_id": release, "source": "x"}
    (folder / "stock.json").write_text(json.dumps(identity | {"compiler": "", "drivers": drivers}))


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("stock:7.2", ("7.2", 1, "")),
        ("stock:7.2@4", ("7.2", 4, "")),
        ("stock:7.2@64", ("7.2", 64, "")),
        ("stock:6.12.117+deb12-amd64@2", ("6.12.117+deb12-amd64", 2, "")),
    ],
)
def test_a_name_has_a_release_and_perhaps_processors(name, means):
    assert parse(name) == means


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("stock:7.2+sata", ("7.2", 1, "sata")),
        ("stock:7.2+usb-storage@4", ("7.2", 4, "usb-storage")),
        ("stock:6.12.117+deb12-amd64+nvme@2", ("6.12.117+deb12-amd64", 2, "nvme")),
        ("stock:6.16+deb14-amd64", ("6.16+deb14-amd64", 1, "")),
    ],
)
def test_a_name_may_have_a_driver_of_its_disks(name, means):
    assert parse(name) == means
    assert str(parse(name)) == name


def test_an_unknown_driver_is_refused_with_those_that_are_known(capsys):
    assert main(["run", "base", "--kernel", "stock:7.2+floppy"]) == 2
    assert capsys.readouterr().err == (
        "wblab: no driver 'floppy' for stock:7.2: give usb-storage, uas, sd, sata, nvme, virtio\n"
    )


def test_a_kernel_that_was_taken_without_a_driver_is_to_be_taken_again():
    keep("7.2.11", "sata")
    found = find("stock:7.2+sata@2")
    assert (found.driver, found.processors, found.virtual_time) == ("sata", 2, False)
    assert find("stock:7.2").virtual_time
    assert found.describe()["driver"] == "sata"
    assert not {"driver", "drivers"} & find("stock:7.2").describe().keys()
    with pytest.raises(InputError, match=r"7\.2\.11 is here without .* nvme: .*--stock 7\.2 --refresh"):
        find("stock:7.2+nvme")


@pytest.mark.parametrize(
    "name",
    [
        *("stock:", "stock:@2", "stock:7.2@", "stock:7.2@0", "stock:7.2@x", "stock:7.2@-1", "stock:7.2@65"),
        *("stock:7.2@999", "stock:7.2@1000000000000", "stock:7.2@01", "stock:7.2@4@4", "stock:7.2@\u0664"),
        *(
            "stock:../x",
            "stock:.",
            "stock:a/b",
            "stock:7.2 ",
            "stock:7.2\n",
            "stock: 7.2",
            "stock:-x",
            "stock:7.2/real",
        ),
    ],
)
def test_a_bad_name_is_refused_with_a_good_one(name, capsys):
    with pytest.raises(InputError, match=r"write stock:7\.2, or stock:7\.2@4 for four processors"):
        parse(name)
    assert main(["run", "base", "--kernel", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith("wblab: no stock kernel ")
    assert said.count("\n") == 1


def test_a_series_is_its_newest_release():
    for release in ("7.2.9", "7.2.11", "7.2.2", "7.3.1", "7.20.1"):
        keep(release)
    assert find("stock:7.2").release == "7.2.11"
    assert find("stock:7.2.9").release == "7.2.9"
    assert find("stock:7") is None
    assert (find("stock:7.2@3").processors, find("stock:7.2").processors) == (3, 1)
    assert len(stock_kernels()) == 5


def test_what_is_no_kernel_is_not_found():
    folder = cache.room("stock", "odd")
    for content in ("", "[]", "{}", '{"release": "7.2"}'):
        (folder / "stock.json").write_text(content)
        assert stock_kernels() == []
    keep(".7.2.1")  # one that is being taken
    assert stock_kernels() == []


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_cache_that_others_may_write_to_is_refused(cache_home: Path, mode: int):
    keep("7.2.1")
    cache_home.chmod(mode)
    with pytest.raises(WblabError, match=f"others may write to {cache_home}: run 'chmod go-w {cache_home}'"):
        find("stock:7.2")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("stock:9.9", "wblab kernel build --stock 9.9"),
        ("stock:9.9@4", "wblab kernel build --stock 9.9"),
        ("stock:6.12.38-arch1", "wblab kernel build --stock /boot/vmlinuz-6.12.38-arch1"),
    ],
)
def test_a_kernel_that_is_not_here_is_said_with_its_command(name, command, capsys):
    with pytest.raises(InputError) as raised:
        built_kernel(name)
    assert str(raised.value) == f"the kernel {name} is not here yet: take it with '{command}'"
    assert how_to_get(name) == command
    for verb in (["run", "base", "--kernel", name], ["kernel", "info", name]):
        assert main(verb) == 2
        assert capsys.readouterr().err == f"wblab: {raised.value}\n"


def test_it_is_not_built(capsys):
    assert main(["kernel", "build", "stock:7.2@4"]) == 2
    assert "wblab kernel build --stock 7.2\n" in capsys.readouterr().err


def test_a_name_that_ends_another_is_in_the_kernel_too():
    """A linker keeps the text syscalls only once, as the end of raw_syscalls."""
    keep("7.2.11")
    (cache.home() / "stock" / "7.2.11" / "names.txt").write_text("raw_syscalls\nsys_enter_openat")
    kernel = find("stock:7.2")
    assert kernel
    wanted = {"\0syscalls\0", "\0raw_syscalls\0", "sys_enter_openat"}
    assert kernel.held({*wanted, "\0sys_enter\0", "\0writeback\0"}) == wanted
