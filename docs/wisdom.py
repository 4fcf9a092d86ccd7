"""The page of the trial's results and its picture, from the directory of a trial: `make wisdom`.

`python docs/wisdom.py DIR` makes both from the directory of a trial.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from wblab.analysis.statistics.outcome import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED
from wblab.lab.formats import TRIED
from wblab.study.designs.paired.recommendations import read_wisdom
from wblab.study.designs.paired.report import PICTURE, write_report
from wblab.study.designs.paired.result import Result
from wblab.study.designs.paired.run import result_of
from wblab.study.designs.paired.words import asked_lines, cost_text, others_text, worst_text
from wblab.study.store import Store

_DOCS = Path(__file__).resolve().parent
PAGE = _DOCS / "findings" / "results-of-folk-wisdom.md"
_PICTURE = _DOCS.parent / "misc" / PICTURE
_HEAD = """\
# Results of the trial of folk wisdom

What each recommendation of [folk wisdom on trial](../explanation/folk-wisdom.md) gave on Linux {release} with the
lab's patches (kernel build `{build}`): {runs} runs, up to {seeds} seeds for each of {tried} combinations of
setting, scenario and scaling. `make wisdom` makes this page anew. The explanation says how recommendations are
tried and judged.

Of {expectations} expectations: {counts}.

The count after a verdict is the number of scenarios, with their scalings, in which the expectation holds. × is a ratio
to the default, with its 95 % interval.

| | source and setting | expectation | verdict | worst scenario | light writers' longest pause | heavy writer's rate |
|---|---|---|---|---|---|---|
"""


def page(result: Result) -> str:
    """Return the page of a trial's results: a row for each expectation of each value."""
    outcomes = [row.outcome for row in result.rows]
    names = (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED)
    head = _HEAD.format(
        release=result.kernel["release"],
        build=str(result.kernel["build_id"])[:16],
        runs=f"{result.runs:,}",
        seeds=result.seeds,
        tried=len(result.tried),
        expectations=len(outcomes),
        counts=", ".join(f"{outcomes.count(name)} {name}" for name in names),
    )
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in _rows(result)]
    asked = [f"- {line}" for line in asked_lines(result.answers, result.wisdom)]
    return head + "\n".join([*rows, "", "Settings that the kernel does not accept as published:", "", *asked, ""])


def _rows(result: Result) -> Iterator[list[str]]:
    for key, (entry, value) in result.wisdom.values().items():
        everywhere = [item for item in result.tried if item.key == key]
        figures = [others_text(everywhere), cost_text(everywhere)] if value.is_setting else ["", ""]
        own = [row for row in result.rows if row.key == key]
        for place, row in enumerate(own):
            first = [key, f"{entry.who}: {value.name}"] if not place else ["", ""]
            verdict = f"{row.outcome}, {row.counts}"
            yield [*first, row.expectation.says, verdict, worst_text(row), *(figures if not place else ["", ""])]
        if not own:
            yield [key, f"{entry.who}: {value.name}", "", "", "", *figures]


if __name__ == "__main__":
    store = Store.open(Path(sys.argv[1]), "trial")
    found = result_of(store, read_wisdom(store.path / TRIED))
    write_report(found, store.path)
    PAGE.write_text(page(found))
    shutil.copyfile(store.path / PICTURE, _PICTURE)
