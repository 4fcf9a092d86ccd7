"""A report on standard output, as all verbs print one."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.report.report import Place, Report


def tell(found: "Report", *below: Path | str, as_json: bool, place: "Place" = "terminal", **about: Any) -> None:
    """Print a report: as text, with lines below it, such as where it is; or as JSON. about: more for that, first."""
    from wblab.report.text import show

    if as_json:
        print(json.dumps(about | found.to_json(), indent=2, allow_nan=False))
        return
    show(found, place)
    if below:
        print("\n".join(["", *(printable(str(line)) for line in below)]))
