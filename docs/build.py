"""Build the documentation, a site without runs, into docs/_build: `make docs`.

It stops at each link that leads nowhere, each language of code that is not known, and each page that no list has.
"""

import sys
from pathlib import Path

from wblab.cli import build_parser
from wblab.commands.reference import verbs
from wblab.kernels import built_kernels
from wblab.lab.places import RESULTS
from wblab.lab.progress import silent
from wblab.publish.site.build import SiteContent, files
from wblab.publish.site.prose import whole_forms
from wblab.publish.site.readback import dead_links
from wblab.publish.site.write import write

OUT = Path(__file__).resolve().parent / "_build"


def main(out: Path = OUT) -> int:
    """Write the site, and return the exit code: 1 if something is wrong with the pages, which is printed."""
    troubles: list[str] = []
    forms = {**whole_forms(), "commands": lambda: verbs(build_parser())}
    wanted = SiteContent((), (), 0, forms=forms, told=troubles.append)
    made = list(files(wanted, RESULTS, built_kernels(), silent))
    troubles += dead_links(made)
    print(*troubles, sep="\n", end="\n" if troubles else "", file=sys.stderr)
    write(out, made)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
