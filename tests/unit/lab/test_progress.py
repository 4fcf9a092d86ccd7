import re
import sys

import pytest

from wblab.lab.progress import bar, main, step, steps


def test_quick_work_without_a_terminal_prints_nothing(capsys):
    with bar("a run") as report:
        report(0.5, "half")
        report(None, "unknown")
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


def lines(capsys):
    """Return the printed text, with every time as T."""
    output = capsys.readouterr()
    assert output.out == ""
    return re.sub(r": \d+\.\d s$", ": T", output.err, flags=re.MULTILINE).splitlines()


def test_steps_print_their_start_and_duration(capsys):
    with steps("kernel") as report:
        report(None, "fetching")
        report(0.5, "fetching")
        report(None, "compiling")
        report(0.1, "fs/namei.o")
        report(0.9, "mm/mmap.o")
    assert lines(capsys) == [
        "wblab: kernel: fetching ...",
        "wblab: kernel: fetching: T",
        "wblab: kernel: compiling ...",
        "wblab: kernel: compiling: T",
    ]


def test_without_work_nothing_is_printed(capsys):
    with steps("kernel"):
        pass
    assert lines(capsys) == []


def test_a_failed_step_has_no_duration(capsys):
    def unpack():
        with steps("kernel") as report:
            report(None, "unpacking")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        unpack()
    assert lines(capsys) == ["wblab: kernel: unpacking ..."]


def test_a_step_prints_no_control_characters(capsys):
    with step("\x1b[2J"):
        pass
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(("code", "said"), [(0, ["wblab: nap ...", "wblab: nap: T"]), (3, ["wblab: nap ..."])])
def test_a_command_as_a_step(capsys, code, said):
    assert main(["nap", sys.executable, "-c", f"raise SystemExit({code})"]) == code
    assert lines(capsys) == said
