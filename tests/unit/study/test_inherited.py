"""Matrices that extend others, and variables in them, as in the lab's daemon-*.toml."""

from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.lab.results import MATRICES
from wblab.study.designs.matrix.factorial import read_matrix, read_table

FIRST = """
name = "first"
base = "base"
seeds = 3
[vars]
rate = 8
cached = false
what = "${rate} MB/s, cached: ${cached}"
[set]
"trace.events" = []
[axes.agent]
none = {}
known = { "agent.a.argv" = ["echo", "${what}; ${rate}"] }
"""
SECOND = """
extends = "first.toml"
seeds = 2
[vars]
cached = true
[set]
"disk.scheduler" = "bfq"
[axes]
"disk.size" = ["130MiB"]
"""


@pytest.fixture
def second(tmp_path: Path) -> Path:
    (tmp_path / "first.toml").write_text(FIRST)
    (tmp_path / "second.toml").write_text(SECOND)
    return tmp_path / "second.toml"


def test_a_matrix_inherits_everything_but_its_own_keys_and_name(second: Path) -> None:
    assert read_table(second) == {
        "base": "base",
        "seeds": 2,
        "set": {"disk.scheduler": "bfq", "trace.events": []},
        "axes": {
            "disk.size": ["130MiB"],
            "agent": {"none": {}, "known": {"agent.a.argv": ["echo", "8 MB/s, cached: true; 8"]}},
        },
    }
    matrix = read_matrix(second)
    assert matrix.name == "second"
    assert [list(cell.levels) for cell in matrix.cells] == [["disk.size", "agent"]] * 2  # its own axes come first


def test_without_variables_the_text_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text('base = "base"\n[set]\n"agent.a.argv" = ["sh", "-c", "echo ${HOME}"]\n')
    assert read_table(tmp_path / "plain.toml")["set"] == {"agent.a.argv": ["sh", "-c", "echo ${HOME}"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "frist"\n', "no matrix 'frist'"),
        ("extends = 3\n", r"second\.toml: extends must name a matrix, not 3"),
        ('extends = "second.toml"\n', r"second\.toml: extends: 'second\.toml' extends this matrix too: remove one"),
        ('[vars]\na = "${b}"\nb = "1"\n', r"second\.toml: no variable 'b' in vars: define it above its use"),
        ('[vars]\nrate = 1\n[set]\nx = "${rat}"\n', r"no variable 'rat' in vars .did you mean 'rate'"),
        ("vars = 3\n", "vars must be a table"),
        ("[vars]\na = [1]\n", "vars must be a table of texts, whole numbers and truth values"),
        ('extends = "first.toml"\nvars = 3\n', "vars must be a table"),
        ('extends = "first.toml"\naxes = 3\n', "axes must be a table, not 3"),
    ],
)
def test_mistakes_are_named(second: Path, text: str, message: str) -> None:
    second.write_text(text)
    with pytest.raises(InputError, match=message):
        read_matrix(second)


def test_two_matrices_that_extend_each_other_are_refused(second: Path) -> None:
    (second.parent / "first.toml").write_text('extends = "second.toml"\n')
    with pytest.raises(InputError, match="extends this matrix too"):
        read_table(second)


def test_the_daemon_s_matrices_have_their_command_in_one_place() -> None:
    texts = [MATRICES.find(name).read_text() for name in MATRICES.names() if name.startswith("daemon-")]
    assert sum(text.count("exec wblab mitigate --json") for text in texts) == 1
    matrix = read_matrix(MATRICES.find("daemon-stick"))
    assert matrix.cells[3].spec.agent["mitigate"].argv == (
        "sh",
        "-c",
        'echo \'{"ubda 524288": {"bandwidth": 5000000, "cached": false}}\' > /run/disks; '
        'printf "%s\\n" "learned = \'/run/disks\'" "cached = \'\'" > /run/known; '
        "exec wblab mitigate --json --config /run/known --policy short-queue-always",
    )
