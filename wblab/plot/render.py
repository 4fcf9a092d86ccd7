"""HTML from templates: what is put into one is escaped, unless the template says that it is HTML."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(package: str, template: str, **values: Any) -> str:
    """Return a template of a package's `templates`, filled in."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(values)
