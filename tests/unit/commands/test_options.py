"""An option means the same in all verbs, and exists wherever it makes sense."""

import sys

import pytest

from wblab.cli import build_parser
from wblab.commands.common import print_wrapped
from wblab.commands.parser import filled, parsers

PARSERS = {parser.prog.removeprefix("wblab").strip(): parser for parser in parsers(filled(build_parser()))}

# Verbs that make a study of many runs; for each, the shared options that it lacks, with the reasons.
STUDIES = {
    "study": {},
    "study --kernels": {},
    "advise": {},
    "bisect": {"--kernel": "the commits are the kernels"},
}
SHARED = ("--resume", "--seeds", "--jobs", "--kernel", "--exp", "--json")
# The names of the options' values in the help.
METAVARS = {
    "--resume": {"DIR"},
    "--seeds": {"N"},
    "--jobs": {"N"},
    "--kernel": {"SERIES|PATH"},
    "--exp": {"DIR"},
    "--json": {None},
    "--output": {"DIR", "FILE"},
    "--format": {None},
    "--set": {"KEY=VALUE"},
}


def options(parser):
    return {name: action for action in parser._actions for name in action.option_strings}


@pytest.mark.parametrize("verb", STUDIES)
def test_every_study_has_the_shared_options_that_apply(verb):
    lacking = {name for name in SHARED if name not in options(PARSERS[verb])}
    assert lacking == STUDIES[verb].keys()


@pytest.mark.parametrize("verb", PARSERS)
def test_an_option_means_the_same_in_all_verbs(verb):
    found = options(PARSERS[verb])
    for name, metavars in METAVARS.items():
        if name in found:
            assert found[name].metavar in metavars, (verb, name)
    assert ("-o" in found) == ("--output" in found)
    if "--output" in found:
        assert found["-o"] is found["--output"]


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
