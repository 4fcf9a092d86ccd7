"""Lists that verbs print: on a terminal, and in a file."""

import os
import pty
import subprocess
import sys

import pytest

from wblab.report.listing import Listing

ROWS = [("mw1", "12", "a " * 200 + "end"), ("[red]w1[/red]\x1b[31m", "3", "short")]
LISTED = Listing(ROWS, ("load", "cycles", "what"), frozenset({1}))


def test_output_to_a_file_is_aligned_and_never_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    heads, first, second = LISTED.lines()
    place = heads.index("what")
    assert first == f"mw1{' ' * (heads.index('cycles') + 4 - 3)}12  {'a ' * 200}end"
    assert (first.index("a a"), second.index("short")) == (place, place)


def test_foreign_text_is_neither_markup_nor_control_characters():
    assert LISTED.lines()[2].startswith(r"[red]w1[/red]\x1b[31m ")


def test_without_heads_the_first_line_is_the_first_row(capsys):
    Listing([("a", "b"), ("longer", "c")]).show()
    assert capsys.readouterr().out == "a       b\nlonger  c\n"


def test_rows_may_be_shorter_than_others():
    assert Listing([("a", "b", "c"), ("d",)], ("x",)).lines() == ["x", "a  b  c", "d"]


def printed(columns, before=""):
    """Return the lines of a list on a terminal of so many columns. before: a line of the program that prints it."""
    program = f"{before}\nfrom wblab.report.listing import Listing; Listing([('a', 'word ' * 40)], ('x', 'y')).show()"
    near, far = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", program], stdout=far, env=environment, check=True)
    os.close(far)
    lines = os.read(near, 1 << 16).decode().splitlines()
    os.close(near)
    return lines


@pytest.mark.parametrize("columns", [40, 120])
def test_a_list_fits_the_terminal(columns):
    heads, *rows = printed(columns)
    assert "\x1b[1m" in heads
    assert len(rows) > 1
    assert max(map(len, rows)) <= columns


def test_a_terminal_that_knows_no_bold_gets_plain_lines():
    heads, *rows = printed(40, "import os; os.environ['TERM'] = 'dumb'")
    assert heads == "x  y"
    assert len(rows) > 1


def test_the_least_important_columns_are_left_out_first():
    rows = [("mw-fast", "multiwrite", "12345", "7.353 s", "2.1 s")]
    wide = Listing(rows, ("load", "kind", "cycles", "longest pause", "at"), frozenset({2, 3}), spare=(4, 1))
    spare = {column.head: column.spare for column in wide.table().columns}
    assert spare == {"load": 0, "kind": 1, "cycles": 0, "longest pause": 0, "at": 2}
