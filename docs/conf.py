"""How the documentation is built: `make docs`. Sphinx, with pages in Markdown that read well without it."""

from sphinx.application import Sphinx

from wblab.cli import build_parser
from wblab.commands.reference import verbs
from wblab.lab.places import MEASURED, ROOT
from wblab.publish.docpages.regions import WHOLE, filled, regions

project = "wblab"
author = "the wblab project"

extensions = ["myst_parser"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "wblab"
html_static_path = ["_static"]
html_css_files = ["narrow.css", "tables.css"]

_FORMS = {**WHOLE, "commands": lambda: verbs(build_parser())}
_FILLED_FROM = [
    *MEASURED.rglob("*.json"),
    *(ROOT / "wblab/publish/docpages").glob("*.py"),
    *(ROOT / "wblab").glob("c*/*.py"),
]


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Show the whole forms of a page's regions. Such a page is built anew when what they are made of changes."""
    if regions(source[0]):
        source[0] = filled(source[0], _FORMS)
        for path in _FILLED_FROM:
            app.env.note_dependency(path)


def setup(app: Sphinx) -> None:
    """Register what this file does beside settings."""
    app.connect("source-read", fill)
