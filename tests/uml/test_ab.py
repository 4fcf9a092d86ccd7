"""Kernels compared by real runs. Building kernels takes minutes: one kernel with different disks represents all."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from support.pages import slips, words
from support.ratedkernels import FAST, SHORT, SLOW, make_kernel
from support.repository import make_repository

from wblab.cli import main
from wblab.host.sandbox import Sandbox
from wblab.kernels import kernel as kernels
from wblab.study.designs.ab import made
from wblab.study.store import Store
from wblab.study.subject import report_of


@pytest.fixture
def scripts(kernel, tmp_path, monkeypatch):
    """Return a function that makes a kernel with a rate of its own; such scripts count as executables."""
    monkeypatch.setattr("wblab.host.run.guest_sandbox", lambda *_, **__: Sandbox(runs=["/"], reads=["/"], calls=""))
    inspect, is_executable, mine = kernels.inspect, kernels.is_executable, {}

    def make(name: str, rate: str):
        path = make_kernel(tmp_path / name, kernel.path, rate)
        build_id = sha256(f"{name}{rate}".encode()).hexdigest()
        mine[path] = replace(kernel, path=path, source=f"a script, {name}", build_id=build_id)
        return mine[path]

    held = kernels.Kernel.held
    monkeypatch.setattr(kernels.Kernel, "held", lambda self, texts: held(kernel, texts))
    monkeypatch.setattr(kernels, "is_executable", lambda path: path in mine or is_executable(path))
    monkeypatch.setattr(kernels, "inspect", lambda path: mine.get(path) or inspect(path))
    return make


def arguments(lab, *further):
    settings = [word for setting in SHORT for word in ("--set", setting)]
    return [*further, "--spec", "base-device", *settings, "--exp", str(lab.results)]


def test_a_copy_of_a_kernel_differs_in_nothing(lab, tmp_path, capsys):
    shutil.copy(lab.kernel.path, tmp_path / "copy")
    given = ["study", "--kernels", str(lab.kernel.path), str(tmp_path / "copy")]
    assert main(arguments(lab, *given, "--seeds", "3", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["headline"].startswith("A and B are the same program, byte for byte. No difference is shown")
    assert found["figures"]
    for item in found["figures"]:
        assert item["claim"] == item["difference"]["estimate"] == 0
    assert found["repeated"]["other"] == []
    assert len(found["repeated"]["same"]) == 2
    page = Path(found["page"]).read_text()
    assert slips(words(page)) == []
    shown = report_of(Store.open(Path(found["directory"])))  # as a site shows it
    assert shown.headline == found["headline"]

    assert main(["study", "--kernels", "--resume", found["directory"]]) == 2  # a path may run only if the user names it
    assert "--kernel" in capsys.readouterr().err
    again = [
        "study",
        "--kernels",
        "--resume",
        found["directory"],
        "--kernel",
        str(tmp_path / "copy"),
        "--kernel",
        str(lab.kernel.path),
    ]
    assert main([*again, "--mail"]) == 0
    mail = capsys.readouterr().out.splitlines()
    assert "No difference is claimed." in mail
    assert max(map(len, mail)) <= 72


def test_kernels_are_only_built_and_named(lab, tmp_path, capsys):
    shutil.copy(lab.kernel.path, tmp_path / "copy")
    given = [
        "study",
        "--kernels",
        str(lab.kernel.path),
        str(tmp_path / "copy"),
        "--build-only",
        "--exp",
        str(lab.results),
    ]
    assert main(given) == 0
    assert capsys.readouterr().out == f"linux: {lab.kernel.path}\ncopy: {tmp_path}/copy\n"
    assert not lab.results.exists()
    assert main([*given, "--resume", "x"]) == 2
    assert "give one" in capsys.readouterr().err


def test_the_same_build_is_refused(lab, tmp_path, capsys):
    path = str(lab.kernel.path)
    assert main(arguments(lab, "study", "--kernels", path, path)) == 2
    assert capsys.readouterr().err == "wblab: A and B are both linux: there is nothing to compare\n"
    copies = [shutil.copy(lab.kernel.path, tmp_path / name) for name in ("one", "two")]
    assert main(arguments(lab, "study", "--kernels", *map(str, copies))) == 2
    assert "are the same build" in capsys.readouterr().err.splitlines()[-1]
    assert not lab.results.exists()


def test_a_kernel_with_a_slower_disk_is_told_with_the_reason_of_its_pauses(lab, scripts, capsys):
    fast, slow = scripts("fast", FAST), scripts("slow", SLOW)
    assert main(arguments(lab, "study", "--kernels", str(fast.path), str(slow.path), "--seeds", "5", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    claimed = [item for item in found["figures"] if item["claim"]]
    assert "figures differ" in found["headline"]
    assert claimed[0]["load"] in {"w1", "mw1"}
    assert {item["load"] for item in claimed} >= {"l1"}
    longer = next(item for item in claimed if item["metric"] == "longest_pause_s")
    assert longer["mean_b"] > longer["mean_a"]
    changed = next(item for item in found["pauses"] if item["load"] == longer["load"])
    assert changed["b"]["pause_ns"] > changed["a"]["pause_ns"]
    assert sum(share for _, share in changed["b"]["kinds"]) > 0.9


def test_each_commit_is_compared_with_the_one_before(lab, scripts, tmp_path, monkeypatch, capsys):
    repository = make_repository(tmp_path / "linux", rate=FAST)
    first = repository.git("rev-parse", "HEAD")
    repository.commit("slow it down", rate=SLOW)
    repository.commit("say more", comment="nothing changes")
    monkeypatch.setattr(
        made,
        "build_tree",
        lambda tree, description, *_, **__: scripts(description[-13:-1], (tree / "rate").read_text()),
    )
    given = ["study", "--kernels", f"{first}..main", "--tree", str(repository.path), "--each", "--seeds", "5"]
    assert main(arguments(lab, *given)) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 of 2 steps change a figure.")
    assert "slow it down" in said
    assert "the same program, byte for byte" in said
    (written,) = lab.results.glob("*_ab/ab.txt")
    assert max(map(len, written.read_text().splitlines())) <= 80
