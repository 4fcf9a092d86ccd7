import os
import pty
import subprocess
import sys

import pytest

from wblab.lab.tables import Table

ROWS = [("mw1", "12", "a " * 200 + "end"), ("[red]w1[/red]\x1b[31m", "3", "short")]
TABLE = Table(ROWS, ("load", "cycles", "what"), frozenset({1}))


def test_output_to_a_file_is_aligned_and_never_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    heads, first, second = TABLE.lines()
    place = heads.index("what")
    assert first == f"mw1{' ' * (heads.index('cycles') + 4 - 3)}12  {'a ' * 200}end"
    assert (first.index("a a"), second.index("short")) == (place, place)


def test_foreign_text_is_neither_markup_nor_control_characters():
    assert TABLE.lines()[2].startswith(r"[red]w1[/red]\x1b[31m ")


def test_without_heads_the_first_line_is_the_first_row(capsys):
    Table([("a", "b"), ("longer", "c")]).show()
    assert capsys.readouterr().out == "a       b\nlonger  c\n"


def test_a_table_with_only_heads():
    assert Table([], ("a", "b")).lines() == ["a  b"]


def test_without_rich_the_cells_are_printed(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    Table([("a\n", "b")], ("x", "y")).show()
    assert capsys.readouterr().out == "x  y\na\\n  b\n"


@pytest.mark.parametrize("columns", [40, 120])
def test_a_table_fits_the_terminal(columns):
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


WIDE = Table(
    [["mw-fast", "multiwrite", "12345", "7.353 s", "2.1 s (0.5), 3.1 s (1.2) and 7 more"]],
    ["load", "kind", "cycles", "longest pause", "pauses over 0.3 s, at"],
    frozenset({2, 3}),
    spare=(4, 1),
)


@pytest.mark.parametrize("width", range(7, 100))
def test_a_narrow_terminal_gets_fewer_columns_and_whole_numbers(width):
    narrow, left_out = WIDE.within(width)
    assert len(narrow.rows[0]) + left_out == 5
    assert narrow.rows[0][0] == "mw-fast"
    assert set(narrow.rows[0]) <= set(WIDE.rows[0])
    numbers = [cell for cell in narrow.rows[0] if cell != WIDE.rows[0][4]]
    assert sum(map(len, numbers)) <= width


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (90, ["load", "kind", "cycles", "longest pause", "pauses over 0.3 s, at"]),
        (60, ["load", "kind", "cycles", "longest pause"]),
        (32, ["load", "cycles", "longest pause"]),
        (28, ["load", "cycles"]),
        (10, ["load"]),
    ],
)
def test_the_least_important_columns_are_dropped_first(width, heads):
    assert WIDE.within(width)[0].heads == heads


def test_a_notebook_gets_plain_lines_too(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert Table([("l1", "2 s")], ("load", "pause")).lines() == ["load  pause", "l1    2 s"]
