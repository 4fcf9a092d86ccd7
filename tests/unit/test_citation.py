"""How to cite the lab: CITATION.cff has what version 1.2.0 of that format requires, and agrees with the package."""

import re
import tomllib

from wblab.lab.places import ROOT
from wblab.publish.site.build import TITLE

TEXT = (ROOT / "CITATION.cff").read_text()
LINE = re.compile(r'( *)(- )?(?:([a-z-]+):)? ?("[^"\\]*"|[^":#{}\[\]&*!|>%@`]*)')
REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = REQUIRED | {"type", "version", "license", "abstract", "keywords", "references"}


def top() -> dict[str, str]:
    found = re.findall(r'^([a-z-]+):(?: (?:"(.*)"|(.*)))?$', TEXT, re.MULTILINE)
    return {key: quoted or plain for key, quoted, plain in found}


def test_each_line_is_plain_yaml():
    for line in TEXT.splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        assert len(match[1]) % 2 == 0, line
        assert match[2] or match[3], line


def test_it_has_the_keys_of_the_format_once():
    keys = re.findall(r"^([a-z-]+):", TEXT, re.MULTILINE)
    assert len(set(keys)) == len(keys)
    assert set(keys) >= REQUIRED
    assert set(keys) <= KNOWN
    assert top()["cff-version"] == "1.2.0"
    assert re.search(r"^authors:\n  - name: \S", TEXT, re.MULTILINE)


def test_it_agrees_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert top()["title"] == TITLE  # on the page about citing
    assert (top()["version"], top()["license"]) == (project["version"], project["license"])
