import sys

from wblab.lab.progress import bar, silent


def test_where_nobody_watches_nothing_is_reported(capsys):
    with bar("a run") as report:
        report(0.5, "half")
        report(None, "unknown")
    assert report is silent
    assert capsys.readouterr() == ("", "")


def test_a_terminal_without_rich_gets_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with bar("a run") as report:
        report(0.5, "half")
        report(None, "unknown")
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "\r\033[Ka run  50% half\r\033[Ka run unknown\r\033[K"
