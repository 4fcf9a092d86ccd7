"""Lines on a terminal and elsewhere."""

import sys

import pytest

from wblab.commands.common import print_wrapped

LINE = "  Most often the disk had 28.9 % of the rows, 2.70 s of waiting, 5.66 MiB of data and 3 sleeps"


@pytest.fixture
def terminal(monkeypatch):
    def of_width(columns: int) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(columns))

    return of_width


def test_numbers_stay_with_their_units(capsys, terminal):
    for width in range(20, 100):
        terminal(width)
        print_wrapped([LINE])
        lines = capsys.readouterr().out.splitlines()
        assert " ".join(line.strip() for line in lines) == LINE.strip()
        assert all(len(line) <= width and line.startswith("  ") for line in lines)
        assert not any(line.lstrip().startswith(("% ", "s ", "MiB ")) for line in lines)


def test_commands_and_empty_lines_stay_whole(capsys, terminal):
    terminal(20)
    command = "    wblab study writeback --evidence    # everything"
    print_wrapped([command, ""])
    assert capsys.readouterr().out == f"{command}\n\n"


def test_a_file_gets_whole_lines(capsys):
    print_wrapped([LINE])
    assert capsys.readouterr().out == f"{LINE}\n"
