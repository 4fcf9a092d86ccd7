"""How the documentation is built: `make docs`. Sphinx, with pages in Markdown that read well without it."""

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
