"""Real attacks, one by one; `test_directories` makes thousands of similar ones."""

import json
import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.lab.printable import printable


@pytest.fixture
def run(originals, tmp_path):
    return shutil.copytree(originals / "guest_run", tmp_path / "run")


@pytest.fixture
def wblab(capsys):
    """Run the command; return its exit code and its standard error."""

    def run(*words):
        code = main([str(word) for word in words])
        return code, capsys.readouterr().err

    return run


def change(run, file="experiment.json", **values):
    content = json.loads((run / file).read_text())
    (run / file).write_text(json.dumps(content | values))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["timeline"], "timeline.png"),
        (["timeline", "--format", "html"], "timeline.html"),
        (["timeline", "--format", "perfetto-trace"], "trace.perfetto-trace"),
        (["timeline", "--format", "perfetto-trace"], ".trace.perfetto-trace.partial"),
    ],
)
def test_nothing_is_written_through_a_link(run, tmp_path, wblab, words, name):
    (tmp_path / "victim").write_text("precious")
    (run / name).symlink_to(tmp_path / "victim")
    code, said = wblab(*words, run)
    assert (code, said) == (0, "")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (run / name).is_symlink() == name.endswith(".partial")


def test_a_matrix_writes_its_rows_into_its_own_directory(originals, tmp_path, wblab, monkeypatch):
    from wblab.analysis.groups.observations import read_table
    from wblab.core.errors import InputError
    from wblab.study.store import Store

    path = shutil.copytree(originals / "matrix", tmp_path / "m")
    (tmp_path / "victim").write_text("precious")
    (path / "rows/0000.parquet").unlink()
    for name in ("journal.jsonl", ".0000.parquet.partial"):
        (path / "rows" / name).symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match="cannot read"):
        Store.open(path).settle()
    (path / "rows/journal.jsonl").unlink()
    Store.open(path).settle()
    assert (tmp_path / "victim").read_text() == "precious"
    assert len(read_table(path))
    (path / "rows").rename(tmp_path / "elsewhere")
    (path / "rows").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"), Store.open(path).held():
        pass


def test_a_matrix_with_runs_outside_its_directory_is_not_resumed(originals, tmp_path, wblab, monkeypatch):
    monkeypatch.setattr("wblab.study.begin.check_kernels", lambda *arguments: None)
    monkeypatch.setattr("wblab.study.begin.requests", lambda *arguments, **options: [])
    path = shutil.copytree(originals / "matrix", tmp_path / "m")
    (path / "runs").rename(tmp_path / "elsewhere")
    (path / "runs").symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").iterdir())
    code, said = wblab("study", "--resume", path)
    assert code == 2
    assert "is not a directory of runs" in said
    assert sorted((tmp_path / "elsewhere").iterdir()) == before


@pytest.mark.parametrize("name", ["load.mw1.npy", "load.mw1.json", "trace.dat", "experiment.json"])
def test_a_fifo_does_not_hang(run, wblab, name):
    (run / name).unlink()
    os.mkfifo(run / name)
    code, said = wblab("timeline", "--panes=all", run)  # lanes need no trace
    assert code == (0 if name == "trace.dat" else 2)  # without a trace it shows the loads alone
    assert said.count("\n") == 1
    assert "regular file" in said or "no run" in said


@pytest.mark.parametrize("name", ["load.mw1.npy", "load.mw1.json", "trace.dat", "experiment.json"])
def test_a_link_is_not_followed(run, tmp_path, wblab, name):
    (run / name).rename(tmp_path / "other")
    (run / name).symlink_to(tmp_path / "other")
    code, said = wblab("timeline", "--panes=all", run)  # lanes need no trace
    assert code == (0 if name == "trace.dat" else 2)
    assert f"{name}: it is a link" in said


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/b", "$\\frac{$", "[/x]", "\x1b[2J", ".", "", "a\0", "x" * 65])
def test_an_invalid_name_of_a_load_is_refused(run, wblab, name):
    spec = json.loads((run / "experiment.json").read_text())["spec"]
    spec["load"][name] = spec["load"].pop("mw1")
    change(run, spec=spec)
    code, said = wblab("why", "--pauses", run)
    assert code == 2
    assert "is not a valid name" in said
    assert "\x1b" not in said


def test_control_characters_in_reasons_are_escaped(run, wblab):
    change(run, outcome="failed", reason="\x1b]0;pwned\x07\x1b[2J\nand \u202emore")
    code, said = wblab("why", "--pauses", run)
    assert code == 0
    assert said == "wblab: this run did not succeed: \\x1b]0;pwned\\x07\\x1b[2J\\nand \\u202emore\n"


@pytest.mark.parametrize(
    "record",
    ["[" * 100_000, '{"format": 1, "kind": "uml", "spec": ' + '{"a":' * 500 + "1" + "}" * 501,
     '{"format": ' + "9" * 5000 + "}",
     '{"format": NaN}', '{"format": 1, "kind": "uml", "spec": {}, "reason": "\\ud800"}',
     '{"format": 1, "kind": "uml", "kernel": [], "spec": {}}',
     "\0"],
)  # fmt: skip
def test_a_foreign_record_is_refused_in_one_line(run, wblab, record):
    (run / "experiment.json").write_text(record)
    for words in (["why", "--pauses", run], ["repeat", run], ["timeline", run], ["run", run]):
        code, said = wblab(*words)
        assert code == 2
        assert said.startswith("wblab: ")
        assert said.count("\n") == 1
        assert len(said) < 2500


def test_a_foreign_or_oversized_array_is_refused(run, wblab):
    header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1152921504606846975,), }".ljust(117) + "\n"
    (run / "load.mw1.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    assert wblab("why", "--pauses", run)[0] == 2
    np.save(run / "load.mw1.npy", np.array([{}], object), allow_pickle=True)
    assert wblab("why", "--pauses", run)[0] == 2
    with (run / "load.mw1.npy").open("wb") as file:
        file.truncate(1 << 40)
    code, said = wblab("why", "--pauses", run)
    assert code == 2
    assert "longer than" in said


def test_overflowing_clocks_are_refused(run, wblab):
    for times in ([0, 1, 2, 3, 2**63 - 1], [-(2**63), 0, 1, 2, 3], [2**62 + 1, -(2**62), 3, 4, 5]):
        np.save(run / "load.mw1.npy", np.array(times))
        code, said = wblab("why", "--pauses", run)
        assert code == 2
        assert "damaged" in said


@pytest.mark.parametrize("name", ["$\\frac{$", "<b>", "\x1b[31m[red]%{y}{0}", "\udcff"])
def test_names_are_drawn_literally(run, wblab, name, capsys):
    run = run.rename(run.with_name(name))
    spec = json.loads((run / "experiment.json").read_text())["spec"]
    spec["disk"]["mount_options"] = [printable(name)]
    change(
        run,
        spec=spec,
        kernel={"release": printable(name)},
        outcome="failed",
        reason=f"{printable(name)}<script>alert(1)</script>",
    )
    for words in (["timeline"], ["timeline", "-o", run / "x.svg"], ["timeline", "--format", "html"]):
        assert wblab(*words, run)[0] == 0
    assert "<script>alert" not in (run / "timeline.html").read_text()


def test_names_in_a_table_are_not_markup(originals, tmp_path, wblab, capsys):
    table = pd.read_csv(originals / "a_table" / "table.csv")
    for text in ("[/x]", "$\\frac{$", "<script>alert(1)</script>\x1b[31m"):
        for column in ("load", "kind", "metric", "disk.scheduler", "run"):
            changed = table.copy()
            changed[column] = text + changed[column].astype(str)
            changed.to_csv(tmp_path / "t.csv", index=False)
            code = main(["compare", str(tmp_path / "t.csv"), "--all", "-o", str(tmp_path / "t.html")])
            out, err = capsys.readouterr()
            assert code == 0, err
            assert "\x1b" not in out + err
            assert "<script>alert" not in (tmp_path / "t.html").read_text()


def test_a_table_of_many_levels_is_not_multiplied_out(tmp_path, wblab):
    columns = {f"axis{place}": [f"{row * (place + 1) % 41}" for row in range(41)] for place in range(30)}
    rest = {"seed": 1, "run": "r", "load": "mw1", "kind": "write", "metric": "paused_s", "value": 1.0}
    pd.DataFrame(columns | {name: [value] * 41 for name, value in rest.items()}).to_csv(tmp_path / "t.csv", index=False)
    code, said = wblab("compare", tmp_path / "t.csv", "-o", tmp_path / "t.html")
    assert code in (0, 2)
    assert said.count("\n") <= 1


def test_another_user_s_bisection_does_not_choose_what_is_built(originals, tmp_path, wblab, monkeypatch):
    monkeypatch.setattr("wblab.kernels.make.check_tools", lambda: None)
    path = shutil.copytree(originals / "bisection", tmp_path / "b")
    code, said = wblab("bisect", "--resume", path)
    assert code == 2
    assert f"builds commits of {originals / 'bisection'}" in said
    about = json.loads((path / "study.json").read_text())["about"]
    bad = {"hash": "--upload-pack=touch x", "author": "", "date": "", "subject": ""}
    change(path, file="study.json", about=about | {"good": bad})
    code, said = wblab("bisect", "--resume", path, "--tree", originals / "bisection")
    assert code == 2
    assert "is not the hash of a commit" in said


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"format": "/../../../x"}, "'/../../../x' is not one of png, svg, pdf"),
        ({"source": "../x"}, "source: '../x' is not one of"),
        ({"kernel": "another"}, "does not record the build"),
        ({"claims": ["openat-ext2"]}, "its runs do not match its claims"),
        ({"claims": "openat-ext4"}, "claims must be a list"),
    ],
)
def test_another_user_s_verification_is_checked(originals, tmp_path, wblab, about, message):
    path = shutil.copytree(originals / "verification", tmp_path / "v")
    change(path, file="study.json", about=json.loads((path / "study.json").read_text())["about"] | about)
    code, said = wblab("study", "--resume", path)
    assert (code, message in said) == (2, True), said


def test_characters_that_the_terminal_lacks_do_not_fail(run, monkeypatch, tmp_path):
    import io

    run = run.rename(run.with_name("\u00e4\udcff\u202e"))
    said = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", said)
    assert main(["timeline", str(run)]) == 0
    said.seek(0)
    assert said.read().endswith("\\xe4\\udcff\\u202e/timeline.png\n")


def test_a_sound_run_is_read(originals):
    assert len(read_run(originals / "guest_run").loads) == 5
