"""Fill the templates of a finding with its figures."""

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from wblab.study.designs.finding import claimed, kept
from wblab.study.designs.finding.finding import read
from wblab.study.designs.finding.words import Layout, Words


def filled(directory: Path, text: str, layout: Layout, **further: object) -> str:
    """Return a template's text with the values and tables of the finding in a directory in it. Raises InputError.

    A hole for a value that the finding does not name raises jinja2.UndefinedError: it is a mistake in the template.
    """
    finding = read(directory)
    words = Words(finding, kept.read(directory), layout)
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    verdicts = claimed.read(directory)
    claims = {name: layout(*claimed.cells(table, verdicts)) for name, table in finding.claims.items()}
    own = {
        "claims": claims,
        "value": words.value,
        "table": words.table,
        "seeds": words.seeds,
        "releases": words.releases,
    }
    return environment.from_string(text).render(own | {"finding": words.finding} | further)
