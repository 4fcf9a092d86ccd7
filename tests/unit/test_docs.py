"""The documentation is held against the commands: what it shows is there, is understood, and is all there is."""

import argparse
import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from wblab.analysis.why.kinds import KINDS as WAITS
from wblab.claims.pages.forms import WHOLE
from wblab.cli import build_parser
from wblab.commands.load import required
from wblab.commands.parser import filled
from wblab.commands.renamed import renamed
from wblab.core.drivers import DRIVERS
from wblab.core.errors import WblabError
from wblab.core.loads import KINDS
from wblab.lab.distributions import ALL
from wblab.lab.packages import HEADERS, PROGRAMS
from wblab.lab.places import EXPLORATIONS, MATRICES, ROOT
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.verbs.live import make_request
from wblab.report.regions import filled as filled_with
from wblab.study.designs.ab.plan import STANDARD

README = ROOT / "README.md"
DOCS = ROOT / "docs"
WRITTEN = ("*.md", "*/README.md", "misc/*/README.md", "docs/*.md", "docs/*/*.md")
DOCUMENTS = sorted(path for pattern in WRITTEN for path in ROOT.glob(pattern))
EXAMPLES = [path.read_text() for path in DOCUMENTS]
# Indented lines: a command, then at least two spaces, `# ` and what it does.
COMMAND = re.compile(
    r"^    (?:sudo )?(?:/opt/wblab/bin/)?((?:\./experiment\.py|\./load\.py|wblab)(?: [^\s>]+)*)", re.MULTILINE
)
PROGRAM = re.compile(r"(?:sudo|make|wblab|pipx|uv|pip|python3|git|sysctl|echo|\./\w+\.py|\S+/bin/\w+) \S")
COMMANDS = sorted({command for text in EXAMPLES for command in COMMAND.findall(text)})
LIVE = sorted(
    {
        options
        for text in EXAMPLES
        for options in re.findall(r"^    sudo \./live_experiment\.py(.*?)(?: -- |  )", text, re.MULTILINE)
    }
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the verbs of a command, or those of a verb."""
    found = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return next(found, {})


def verbs() -> list[str]:
    return [
        " ".join(["wblab", verb, *below])
        for verb, parser in choices(filled(build_parser())).items()
        for below in ([[one] for one in choices(parser)] or [[]])
    ]


def targets(text: str) -> set[str]:
    return set(re.findall(r"(?:^    |`)make ([a-z]+)", text, re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_make_targets_exist_and_explain_themselves(document):
    makefile = (ROOT / "Makefile").read_text()
    for target in targets(document.read_text()):
        assert re.search(rf"^{target}:.*## \w", makefile, re.MULTILINE), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        path, _, heading = link.partition("#")
        target = document.parent / path if path else document
        assert link.startswith("https://") or target.exists(), link
        if heading and not link.startswith("https://"):
            assert heading in anchors(target.read_text()), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_what_is_shown_can_be_pasted(document):
    """A shell and TOML take what stands behind # for a comment; words behind spaces would be arguments."""
    lines = [line[4:] for line in document.read_text().splitlines() if line.startswith("    ")]
    for line in lines:
        if PROGRAM.match(line):
            assert "  " not in plain(line), line
            assert shlex.split(line, comments=True), line
        elif re.match(r"[\w.]+ = ", line) and "toml" in document.read_text().lower():
            assert "  " not in plain(line), line


def plain(line: str) -> str:
    """Return a line without what is quoted, and without its comment."""
    return re.sub(r"\s+# .*", "", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line))


@pytest.mark.parametrize("line", ["make run   set up", "wblab run 'a  b'   it"])
def test_prose_behind_a_command_is_seen(line):
    assert PROGRAM.match(line)
    assert "  " in plain(line)


def anchors(text: str) -> set[str]:
    """Return what headings are called in links, as GitHub does it."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_reached_from_the_first():
    first = (DOCS / "index.md").read_text()
    for page in DOCS.glob("*/*.md"):
        assert f"]({page.parent.name}/{page.name})\n" in first, page


def test_the_readme_is_short_fits_a_screen_and_leads_to_all_pages():
    text = README.read_text()
    assert len(text.split()) <= 700
    assert max(len(line) for line in text.splitlines()[:22]) <= 80  # up to the picture
    assert "](docs/index.md)" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command):
    program, *arguments = shlex.split(command)
    if program == "./load.py":
        assert arguments[1] in KINDS
        return
    assert program != "wblab" or renamed(arguments) == arguments
    if arguments[:1] in (["--completion"], ["--reference"]):
        return
    parsed = build_parser().parse_args(arguments if program == "wblab" else ["run", *arguments])
    settings = getattr(parsed, "settings", [])
    if not settings:
        return
    specs = getattr(parsed, "spec", None) or getattr(parsed, "what", None)
    for spec in [specs] if isinstance(specs, str) else specs or STANDARD:
        assert Path(spec).suffix or read_spec(SPECS.find(spec), settings)


@pytest.mark.parametrize("options", LIVE)
def test_live_commands_are_understood(options):
    assert make_request(build_parser().parse_args(["live", *shlex.split(options), "--", "true"]))


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_is_shown_at_work(verb):
    assert any(f"{command} ".startswith(f"{verb} ") for command in COMMANDS)


def test_programs_of_a_checkout_are_shown_at_work():
    assert LIVE
    assert {"./experiment.py", "./load.py"} <= {command.split()[0] for command in COMMANDS}


def test_every_preset_matrix_and_exploration_is_explained():
    page = filled_with((DOCS / "reference/experiments.md").read_text(), WHOLE)
    explained = re.findall(r"^\| `([a-z0-9-]+)` \| \S", page, re.MULTILINE)
    several = (path.stem for folder in (MATRICES, EXPLORATIONS) for path in folder.glob("*.toml"))
    assert sorted(explained) == sorted([*SPECS.names(), *several])


def test_every_kind_of_load_is_explained_with_its_parameters():
    page = (DOCS / "reference/loads.md").read_text()
    for kind, cls in KINDS.items():
        assert f"`{kind}`" in page
        words = re.search(rf"^\| `{kind}` \| ([^|]+) \|", page, re.MULTILINE)
        assert words is None or re.findall(r"`(\w+)`", words[1]) == required(cls), kind
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert rows == KINDS.keys() - {"control"}


def test_every_kind_of_wait_is_explained():
    page = (ROOT / "docs" / "reference" / "waits.md").read_text()
    assert not {kind.name for kind in WAITS if f"`{kind.name}`" not in page}


def test_the_queue_of_every_driver_is_as_the_code_has_it():
    page = (DOCS / "reference/disk-model.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)`: [^|]+ \| ([\d,]+) of ([\d,]+) KiB \| ([\d,]+) MiB \|", page, re.MULTILINE)
    shown = {driver: [int(number.replace(",", "")) for number in numbers] for driver, *numbers in rows}
    assert shown == {
        driver: [queue.requests, queue.request_bytes >> 10, round(queue.requests * queue.request_bytes / 2**20)]
        for driver, queue in DRIVERS.items()
    }


@pytest.mark.parametrize("distribution", ALL, ids=lambda one: one.name)
def test_the_packages_of_every_distribution_are_those_that_the_lab_asks_for(distribution):
    rows = (DOCS / "how-to/install.md").read_text().splitlines()
    row = next(line for line in rows if line.startswith(f"| {distribution.name}"))
    packages = distribution.packages([*PROGRAMS.values(), *HEADERS.values(), "python3-venv"])
    assert row.endswith(f" {' '.join(packages)}` |")


def test_the_map_of_the_rooms_is_true():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:wblab|tests|misc|docs|linux-uml|experiments|analysis)/[\w/.-]+)`", text))
    assert [path for path in sorted(named) if "NAME" not in path and not (ROOT / path).exists()] == []
    rooms = {f"wblab/{path.parent.name}" for path in (ROOT / "wblab").glob("*/__init__.py")}
    large = ("analysis", "live", "claims", "study")
    parts = {
        f"wblab/{room}/{path.parent.name}" for room in large for path in (ROOT / "wblab" / room).glob("*/__init__.py")
    }
    assert sorted((rooms | parts) - named) == []


def test_the_reading_path_can_be_read_in_a_day():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    path = re.search(r"^## A reading path\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    files = re.findall(r"`((?:wblab|misc)/[\w/]+\.py)`", path[1])
    assert len(set(files)) == len(files)
    assert sum((ROOT / file).read_text().count("\n") for file in files) <= 10_000


def imported(room):
    """Return the rooms that a room's modules import, wherever in a module, beside core and lab."""
    found = set()
    for path in (ROOT / "wblab" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {name.split(".")[1] for name in names if name.startswith("wblab.")}
    return found - {room, "core", "lab"}


def test_the_map_says_what_rooms_import_in_the_order_of_the_contract():
    rows = re.findall(r"^\| (`wblab/\w+`.*?) \| .* \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    told = {
        tuple(re.findall(r"`wblab/(\w+)`", rooms)): set(filter(None, re.split(r",? +", names.strip())))
        for rooms, names in rows
    }
    assert told == {rooms: {name for room in rooms for name in imported(room)} - {*rooms, "cli"} for rooms in told}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    floors = {
        room.strip().removeprefix("wblab."): number for number, layer in enumerate(layers) for room in layer.split("|")
    }
    order = [min(floors[room] for room in rooms) for rooms in told]
    assert order == sorted(order, reverse=True)


def test_a_preset_that_is_not_there_is_refused():
    with pytest.raises(WblabError):
        SPECS.find("no-such-preset")
