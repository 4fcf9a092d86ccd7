import os
import pty
import subprocess
import sys

import pytest

from wblab.lab.tables import Table

ROWS = [("mw1", "12", "a " * 200 + "end"), ("[red]w1[/red]\x1b[31m", "3", "short")]
TABLE = Table(ROWS, ("load", "cycles", "what"), frozenset({1}))


def test_what_goes_to_a_file_is_aligned_and_never_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    heads, first, second = TABLE.lines()
    place = heads.index("what")
    assert first == f"mw1{' ' * (heads.index('cycles') + 4 - 3)}12  {'a ' * 200}end"
    assert (first.index("a a"), second.index("short")) == (place, place)


def test_what_others_wrote_is_no_markup_and_does_not_act_on_a_terminal():
    assert TABLE.lines()[2].startswith(r"[red]w1[/red]\x1b[31m ")


def test_without_heads_the_first_line_is_the_first_row(capsys):
    Table([("a", "b"), ("longer", "c")]).show()
    assert capsys.readouterr().out == "a       b\nlonger  c\n"


def test_heads_alone():
    assert Table([], ("a", "b")).lines() == ["a  b"]


def test_without_rich_the_cells_are_there(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    Table([("a\n", "b")], ("x", "y")).show()
    assert capsys.readouterr().out == "x  y\na\\n  b\n"


@pytest.mark.parametrize("columns", [40, 120])
def test_on_a_terminal_it_is_no_wider_than_that(columns):
    program = "from wblab.lab.tables import Table; Table([('a', 'word ' * 40)], ('x', 'y')).show()"
    near, far = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", program], stdout=far, env=environment, check=True)
    os.close(far)
    lines = os.read(near, 1 << 16).decode().splitlines()
    os.close(near)
    assert "\x1b[1m" in lines[0]
    assert len(lines) > 2
    assert max(map(len, lines[1:])) <= columns
