"""Keep measured results as the lab's data, and write the regions of pages that show them.

    python docs/results.py [DIR ...]           # `make results`, `make wisdom`, `make atlas`, `make findings`
    python docs/results.py --outside [STUDY ...]

Each DIR was made by `wblab study` of a work, of the recommendations, or of the atlas. --outside makes the runs of the
studies in experiments/measured/outside, all or some, and keeps what `wblab study` says of each. Without arguments
only the pages are written.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab.claims.atlas.made import read_all
from wblab.claims.outside import statements
from wblab.claims.pages.forms import SHORT
from wblab.claims.pages.kept import trial, verified, write_atlas, write_claims, write_trial
from wblab.claims.trial.recommendations import read_wisdom
from wblab.claims.trial.report import PICTURE, write_report
from wblab.claims.trial.run import result_of
from wblab.kernels import list_kernels
from wblab.lab.formats import TRIED, VERDICTS, VERIFICATION, write_json
from wblab.lab.places import OUTSIDE
from wblab.report.regions import filled, regions
from wblab.study.store import Store

DOCS = Path(__file__).resolve().parent
_PICTURE = DOCS.parent / "misc" / PICTURE


def keep(directory: Path) -> None:
    """Keep what a verification, a trial or an atlas gave. Raises InputError if the directory is none of them."""
    if (directory / TRIED).is_file():
        store = Store.open(directory, "trial")
        found = result_of(store, read_wisdom(store.path / TRIED))
        write_report(found, store.path)
        shutil.copyfile(store.path / PICTURE, _PICTURE)
        write_trial(trial(found))
    elif (directory / VERDICTS).is_file():
        write_claims([verified(VERIFICATION.read(directory / VERDICTS))])
    else:
        series = [listed.series for listed in list_kernels()]
        made = read_all(directory, series)
        if not made:
            sys.exit(f"{directory} has no verification, trial or atlas")
        write_atlas(made, series)


def run_outside(names: Sequence[str]) -> None:
    """Make studies on stock kernels, and keep what they say."""
    listed = statements()
    for name in names or listed.study:
        called = [sys.executable, "-m", *listed.study[name].command, "--json"]
        answer = json.loads(subprocess.run(called, stdout=subprocess.PIPE, check=True).stdout)
        del answer["directory"]
        write_json(OUTSIDE / f"{name}.json", answer, short=True)


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the pages that have a region from data, with what the data make of them."""
    for page in sorted(DOCS.glob("*/*.md")):
        text = page.read_text()
        if set(regions(text)) & SHORT.keys():
            yield page, filled(text, SHORT, marked=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Keep measured results, and write the pages that show them.")
    parser.add_argument("--outside", action="store_true", help="make the studies on stock kernels anew")
    parser.add_argument("names", nargs="*", help="directories of results; with --outside, studies")
    arguments = parser.parse_args()
    if arguments.outside:
        run_outside(arguments.names)
    else:
        for each in arguments.names:
            keep(Path(each))
    for path, content in pages():
        path.write_text(content)
