"""The kernel that a user's name for it means."""

import json
import shlex
from pathlib import Path

import pytest

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.core.tables import to_table
from wblab.kernels.wanted import build_kernel, built_kernel, built_kernels, full_name
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.matrix.factorial import read_matrix
from wblab.study.store import Store


def test_a_path_becomes_absolute(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    monkeypatch.setenv("HOME", str(tree.parent))
    for name in ("linux", "./linux", "linux/../linux", "~/linux", str(tree)):
        assert full_name(name) == str(tree)


def test_a_series_or_a_missing_path_is_unchanged(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    (tree.parent / "7.3").mkdir()
    for name in ("7.3", "6.12", "", "nothing", "no/thing"):
        assert full_name(name) == name


def test_the_number_of_processors_has_one_spelling(tree, monkeypatch):
    monkeypatch.chdir(tree.parent)
    assert full_name("7.3+smp@1") == "7.3+smp"
    assert full_name("7.3+smp+A=y@4") == full_name("7.3+smp@4+A=y") == "7.3+smp@4+A=y"
    assert full_name("linux@2") == f"{tree}@2"


def test_processors_are_no_part_of_a_build():
    with pytest.raises(InputError, match=r"is not built yet: build it with 'wblab kernel build 7\.3\+smp' "):
        built_kernel("7.3+smp@4")
    with pytest.raises(InputError, match=r"a number of processors is for runs: build 7\.3\+smp and run 7\.3\+smp@4"):
        build_kernel("7.3+smp@4")


def test_the_command_that_builds_a_tree_can_be_copied(tree):
    moved = tree.rename(tree.parent / "my linux")
    with pytest.raises(InputError) as raised:
        built_kernel(str(moved), given=[str(moved)])
    assert f"build it with '{shlex.join(['wblab', 'kernel', 'build', str(moved)])}'" in str(raised.value)


def test_a_kernel_not_built_is_named_with_the_next_step():
    said = r"kernel 6\.1 is not built yet: build it with 'wblab kernel build 6\.1' .* packed one with 'wblab kernel add"
    with pytest.raises(InputError, match=said):
        built_kernels()("6.1")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that looks like a kernel. Whether this machine can run the spec is not tested here."""
    monkeypatch.setattr("wblab.host.request.check_run", lambda spec: None)
    path = tmp_path / "linux"
    path.write_bytes(b"\x7fELF\0Linux version 7.3.0 (a@b) (gcc 12.2.0, GNU ld 2.40) #1 then\0umid=\0")
    return path


def refused(capsys: pytest.CaptureFixture[str], planted: Path, *arguments: object) -> None:
    assert main([*map(str, arguments)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert f"give --kernel {planted} to run it" in errors


def record(folder: Path, kernel: Path) -> Path:
    """Write a record like that of a run with --kernel PATH."""
    folder.mkdir()
    spec = to_table(read_spec(PRESETS / "base.toml")) | {"kernel": str(kernel)}
    (folder / "experiment.json").write_text(json.dumps({"format": 1, "kind": "uml", "spec": spec}))
    return folder


def test_a_spec_a_record_and_a_setting_cannot_choose_a_program(planted, tmp_path, capsys):
    own = tmp_path / "own.toml"
    own.write_text(f'kernel = "{planted}"\n' + (PRESETS / "base.toml").read_text())
    refused(capsys, planted, "run", own)
    refused(capsys, planted, "run", record(tmp_path / "run", planted))
    refused(capsys, planted, "run", "--set", f"kernel={planted}")
    refused(capsys, planted, "monitor", "--guest", own)


def test_a_matrix_cannot_choose_a_program(planted, tmp_path, capsys):
    matrix = tmp_path / "matrix.toml"
    matrix.write_text(f'base = "base"\n[axes]\nkernel = ["{planted}"]\n')
    refused(capsys, planted, "study", matrix)


def test_the_directory_of_a_matrix_cannot_choose_a_program(planted, tmp_path, capsys):
    matrix = tmp_path / "matrix.toml"
    matrix.write_text(f'base = "base"\n[axes]\nkernel = ["{planted}"]\n')
    store = Store.create(tmp_path / "exp", read_matrix(matrix), {str(planted): {"build_id": "0" * 64}})
    refused(capsys, planted, "study", "--resume", store.path)
    plan = store.path / "study.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"kernels": {}}))
    assert main(["study", "--resume", str(store.path)]) == 2
    assert "the build of kernel" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["linux", "./linux", "../{folder}/linux", "{path}"])
def test_every_spelling_of_a_path_is_refused(planted, monkeypatch, name):
    monkeypatch.chdir(planted.parent)
    written = name.format(folder=planted.parent.name, path=planted)
    with pytest.raises(InputError, match=f"give --kernel {planted}"):
        built_kernel(written)
    assert built_kernel(written, given=["other", str(planted)]).path == planted
    assert built_kernel(full_name(written), given=["linux"]).path == planted
