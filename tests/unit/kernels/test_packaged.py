"""A kernel from the package wblab-kernel: how the wheel is made, when the lab uses its kernel, and when not."""

import importlib.util
import json
import zipfile
from argparse import Namespace
from email.parser import Parser
from hashlib import sha256
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from wblab.commands.kernel import info
from wblab.core.errors import InputError
from wblab.kernels import build_kernel, built_kernel, carry, find_kernel, list_kernels
from wblab.lab.places import ROOT

PROJECT = ROOT / "misc/kernel-wheel"
_spec = importlib.util.spec_from_file_location("hatch_build", PROJECT / "hatch_build.py")
hook = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hook)


@pytest.fixture
def wheel(tmp_path: Path, images: None) -> Path:
    build_kernel()
    return Path(next(WheelBuilder(str(PROJECT)).build(directory=str(tmp_path / "dist"))))


@pytest.fixture
def installed(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere) -> Path:
    """Return the folder of the package on another machine, whose cache is empty."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "packages")
    folder = tmp_path / "packages/wblab_kernel"
    monkeypatch.setattr(carry, "packaged_kernels", lambda: folder)
    elsewhere()
    return folder


def test_the_kernel_of_the_package_is_used(installed: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = find_kernel()
    assert found
    assert capsys.readouterr().err.startswith("wblab: adding Linux 7.3.0 of the package wblab-kernel to the cache")
    assert find_kernel("7.3") == built_kernel("") == build_kernel() == found
    assert find_kernel("7.2") is None
    assert len((tools / "runs").read_text().splitlines()) == 1, "built once, for the wheel"
    assert [entry.package for entry in list_kernels()] == ["of the package wblab-kernel", ""]
    assert capsys.readouterr().err == "", "added once"


def test_a_kernel_built_here_is_used_before_it(installed: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "gcc").write_text("#!/bin/sh\necho gcc 2.0\n")
    with monkeypatch.context() as without:
        without.setattr(carry, "packaged_kernels", lambda: None)
        built = build_kernel()
    assert built.compiler.startswith("gcc 2.0")
    assert find_kernel() == built
    assert list_kernels()[0].package == ""


def test_one_of_another_lab_is_not_used_and_said_so(installed: Path, lab: Path, tmp_path: Path) -> None:
    (lab / "series/7.3").write_text("")
    assert find_kernel() is None
    with pytest.raises(InputError, match=r"built yet: the package wblab-kernel has Linux 7\.3\.0 with .*make dist"):
        built_kernel("7.3")
    assert list_kernels()[0].package.startswith("the package wblab-kernel has Linux 7.3.0 with another source")
    assert not list((tmp_path / "elsewhere").rglob("linux"))


@pytest.mark.parametrize(
    ("name", "words"), [("7.3.json", "install it again"), ("7.3.tar.xz", "is not a packed kernel")]
)
def test_a_damaged_package_is_an_error(installed: Path, name: str, words: str) -> None:
    (installed / name).write_bytes(b"damaged")
    with pytest.raises(InputError, match=words):
        find_kernel()


def test_the_same_kernel_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    again = Path(next(WheelBuilder(str(PROJECT)).build(directory=str(tmp_path / "again"))))
    assert (again.name, again.read_bytes()) == (wheel.name, wheel.read_bytes())


def test_the_wheel_names_its_licence_and_offers_its_source(installed: Path, lab: Path) -> None:
    (about,) = installed.parent.glob("*.dist-info")
    metadata = Parser().parsestr((about / "METADATA").read_text())
    assert metadata["License-Expression"] == "GPL-2.0-only"
    assert "GNU GENERAL PUBLIC LICENSE" in (about / "licenses/COPYING").read_text()
    assert "Root-Is-Purelib: false" in (about / "WHEEL").read_text()
    offer = (installed / "SOURCE.md").read_text()
    built = json.loads((installed / "7.3.json").read_text())
    for digest in (built["source_identity"].removeprefix("sha256:"), built["linux_sha256"], built["config_sha256"]):
        assert f"`{digest}`" in offer
    assert sha256((installed / "7.3.tar.xz").read_bytes()).hexdigest() in offer
    assert sha256((installed / "config").read_bytes()).hexdigest() == built["config_sha256"]
    assert built["compiler"] in offer
    assert "at least three years" in offer
    for patch in built["patches"]:
        assert f"- `{patch['sha256']}` {patch['name']}" in offer
        assert sha256((installed / "patches" / patch["name"]).read_bytes()).hexdigest() == patch["sha256"]


@pytest.mark.parametrize(
    ("linux", "tag"),
    [
        (b"\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.2.5\0", "manylinux_2_34_x86_64"),
        (b"\0static\0", "linux_x86_64"),
    ],
)
def test_the_tag_is_the_oldest_c_library_that_will_do(linux: bytes, tag: str) -> None:
    assert hook.platform(linux) == tag


def test_the_list_shows_it(installed: Path, lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info._list(Namespace(json=False))
    assert "built: 7.3.0, of the package wblab-kernel" in capsys.readouterr().out
