"""The documentation is held against the commands: what it shows is there, and is understood."""

import re
import shlex
from pathlib import Path

import pytest

from wblab.cli import build_parser
from wblab.commands.live import build_parser as live_parser
from wblab.commands.live import make_order
from wblab.core.errors import WblabError
from wblab.lab.places import ROOT
from wblab.lab.specfile import find_spec, preset_names, read_spec

README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted(path for pattern in ("*.md", "*/README.md") for path in ROOT.glob(pattern))
# Indented lines: a command, then at least two spaces and what it does.
COMMANDS = re.findall(r"^    ((?:\./experiment\.py|wblab)(?: \S+)*)", README, re.MULTILINE)


def targets(text: str) -> set[str]:
    return set(re.findall(r"(?:^    |`)make ([a-z]+)", text, re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist_and_explain_themselves(document):
    makefile = (ROOT / "Makefile").read_text()
    for target in targets(document.read_text()):
        assert re.search(rf"^{target}:.*## \w", makefile, re.MULTILINE), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        assert link.startswith("https://") or (document.parent / link).exists(), link


def test_commands_were_found():
    assert len(COMMANDS) > 8


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command):
    program, *arguments = shlex.split(command)
    parsed = build_parser().parse_args(arguments if program == "wblab" else ["run", *arguments])
    settings = getattr(parsed, "settings", [])
    if settings and not Path(parsed.spec).suffix:
        assert read_spec(find_spec(parsed.spec), settings)


@pytest.mark.parametrize(
    "options", re.findall(r"^    sudo \./live_experiment\.py(.*?)(?: -- |  )", README, re.MULTILINE)
)
def test_live_commands_are_understood(options):
    assert make_order(live_parser().parse_args(shlex.split(options)), ("true",))


def test_every_preset_is_explained():
    explained = set(re.findall(r"^\| `([a-z0-9-]+)` \|", README, re.MULTILINE))
    assert explained == set(preset_names())


def test_a_preset_that_is_not_there_is_refused():
    with pytest.raises(WblabError):
        find_spec("no-such-preset")
