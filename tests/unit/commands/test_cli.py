"""The command as a whole: every verb has help, refuses unknown arguments, and imports no other verb."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wblab.cli import VERBS, build_parser, main
from wblab.commands.parser import filled, parsers
from wblab.commands.reference import verbs
from wblab.lab.places import ROOT

PARSERS = list(parsers(filled(build_parser())))
REFERENCE = verbs(build_parser())
NAMES = [parser.prog.split()[1:] for parser in PARSERS if parser.prog != "wblab"]
GROUPS = ["run", "look", "this machine", "kernels", "hand on", "learn", "set up"]
LIMIT_S = 0.15  # of CPU time, for --help
HEAVY = ("numpy", "pandas", "matplotlib", "rich", "aiohttp", "dask", "shtab")


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True, **options)


def test_help_fits_a_terminal_and_names_every_verb(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    most, others = printed.split("\n\n")[-2:]
    often = [verb.name for verb in VERBS if verb.often]
    assert re.findall(r"^  (\w+)", most, re.MULTILINE) == often
    listed = {
        group: names.split(", ") for group, names in re.findall(r"^  (\w+(?: \w+)?)  +(.*)$", others, re.MULTILINE)
    }
    left = {group: [verb.name for verb in VERBS if verb.group == group and not verb.often] for group in GROUPS}
    assert listed == {group: names for group, names in left.items() if names}
    assert len(printed.splitlines()) <= 24
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("verb", NAMES, ids=" ".join)
def test_every_verb_has_help(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*verb, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: wblab {' '.join(verb)}")


@pytest.mark.parametrize("parser", PARSERS[1:], ids=lambda parser: parser.prog)
def test_the_help_of_a_verb_fits_forty_lines_of_eighty_columns(parser, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = parser.format_help().splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_every_option_has_help(parser):
    assert parser.description
    for action in parser._actions:
        assert action.help, action


@pytest.mark.parametrize("verb", [[], *NAMES], ids=" ".join)
def test_an_unknown_option_is_refused_in_one_line(verb, capsys):
    assert main([*verb, "--no-such-option"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"wblab: .*: see wblab( [a-z-]+)* --help\n", said.err)


def test_an_unknown_or_missing_verb_is_refused(capsys):
    assert main(["rnu"]) == 2
    assert capsys.readouterr().err.startswith("wblab: no verb 'rnu' (did you mean 'run'?)")
    assert main([]) == 2
    assert "VERB" in capsys.readouterr().err


def test_a_misspelt_verb_gets_a_suggestion(capsys):
    assert main(["study", "2", "--job"]) == 2
    assert "unrecognized arguments: --job (did you mean '--jobs'?)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["study", "thesis", "--seeds", "0"], "argument --seeds: 0 is not at least 1"),
        (["study", "thesis", "--jobs", "x"], "argument --jobs: 'x' is not a whole number"),
        (["study", "remedies", "--jobs", "1025"], "argument --jobs: 1025 is not between 1 and 1024"),
        (["study", "remedies", "--evidence"], "--evidence is for exploration, and this is matrix: leave it out"),
        (["repeat", "golden", "--explain"], "--explain is for a run, and this is golden: leave it out"),
        (["bisect", "--seeds", "2"], "argument --seeds: 2 is not at least 3"),
        (["--completion", "csh"], "--completion: 'csh' is not one of bash, zsh, fish"),
    ],
)
def test_bad_input_is_reported_on_one_line(words, message, capsys):
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert message in said.err


@pytest.mark.parametrize(
    ("words", "parsed"),
    [
        ("repeat first --json second", {"run_name": "first", "other": "second", "json": True}),
        ("repeat --kernel 7.3 first", {"run_name": "first", "other": None, "kernel": ["7.3"]}),
        ("compare a --by seed b --all c", {"runs": ["a", "b", "c"], "by": ["seed"], "all": True}),
        ("study one --seeds 2 two three", {"what": "one", "parts": ["two", "three"], "seeds": 2}),
        ("bisect v1 --metric mw1.wait_time_s v2", {"good": "v1", "bad": "v2"}),
        ("run --seed 3 base-ext2 --set a=b", {"spec": "base-ext2", "settings": ["a=b"]}),
        ("run --seed 3", {"spec": "base", "seed": 3}),
        ("monitor --speed 2 latest --json", {"run_name": "latest", "speed": 2.0}),
        ("kernel pack k.tar.xz", {"kernel": None, "file": Path("k.tar.xz")}),
        ("kernel pack 7.3 --json k", {"kernel": "7.3", "file": Path("k"), "json": True}),
        (f"kernel add k --sha256 {'A' * 64}", {"file": Path("k"), "sha256": "a" * 64}),
        ("kernel info 7.3 --json", {"kernel": "7.3", "json": True}),
        ("why --pauses --json -- -odd", {"run_name": "-odd"}),
    ],
)
def test_options_may_be_in_any_position(words, parsed):
    arguments = vars(build_parser().parse_args(words.split()))
    assert {name: arguments[name] for name in parsed} == parsed


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_only_the_called_verb_is_imported(verb):
    code = (
        "import sys\n"
        "from wblab.cli import main\n"
        "try: main([*sys.argv[1:], '--help'])\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)\n"
    )
    loaded = set(python("-c", code, verb).stderr.split())
    assert {name.split(".")[2] for name in loaded if re.match(r"wblab\.commands\.", name)} <= {"parser", "common", verb}
    assert not loaded.intersection(HEAVY)


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"]], ids=" ".join)
def test_help_is_fast(words):
    def spent_s():
        before = os.times()
        python("-m", "wblab", *words)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(spent_s() for _ in range(5)) < LIMIT_S


@pytest.mark.parametrize("verb", NAMES, ids=" ".join)
def test_the_reference_has_every_verb_and_option(verb):
    heading = f" wblab {' '.join(verb)}\n"
    assert heading in REFERENCE
    part = REFERENCE.partition(heading)[2].partition("\n## ")[0]
    parser = next(one for one in PARSERS if one.prog.split()[1:] == verb)
    shown = {text for action in parser._actions if action.help != "==SUPPRESS==" for text in action.option_strings}
    assert {text for text in shown - {"-h", "--help"} if text not in part} == set()


def test_the_reference_says_how_each_verb_is_called():
    usages = re.findall(r"^    (.*\[options\].*)$", REFERENCE, re.MULTILINE)
    assert len(usages) > len(NAMES) / 2
    assert [usage for usage in usages if not usage.startswith("wblab ")] == []


BASH = """
source /dev/stdin
complete_words() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    $(complete -p wblab | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    echo "${COMPREPLY[@]}"
}
"""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["wblab", "ti"], "timeline"),
        (["wblab", "timeline", "--form"], "--format"),
        (["wblab", "timeline", "--format", ""], "png svg pdf html perfetto-trace"),
        (["wblab", "timeline", "--ht"], ""),  # removed files are not offered
        (["wblab", "kernel", "in"], "info"),
        (["wblab", "run", "READ"], "README.md"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bash_completes_verbs_options_and_files(words, completed, capsys):
    with pytest.raises(SystemExit):
        main(["--completion", "bash"])
    command = ["bash", "-c", f'{BASH} complete_words "$@"', "bash", *words]
    done = subprocess.run(command, cwd=ROOT, input=capsys.readouterr().out, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completions_of_other_shells_have_every_verb(shell, capsys):
    with pytest.raises(SystemExit):
        main(["--completion", shell])
    said = capsys.readouterr().out
    assert [verb.name for verb in VERBS if verb.name not in said] == []
