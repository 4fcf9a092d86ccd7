"""How long it takes to draw a run of over a million events, after the imports."""

import pytest
from support.benchlog import report
from support.timing import REPEATS, spent

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import around
from wblab.analysis.runs.run import read_run
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.plot.picture import picture, save
from wblab.plot.timeline import timeline

pytestmark = pytest.mark.bench
EVENTS = '["writeback", "ext4", "block", "jbd2", "sched", "raw_syscalls", "syscalls"]'
MILLION = 1_000_000


@pytest.fixture(scope="module")
def directory(kernel, tmp_path_factory):
    spec = read_spec(SPECS.find("base"), [f"trace.events={EVENTS}", "trace.buffer=32M"])
    return run_experiment(ready(spec, lambda name: kernel), tmp_path_factory.mktemp("exp")).directory


def test_drawing(directory, tmp_path):
    events = sum(page_cache(read_run(directory)).counts.values())
    assert events > MILLION

    def draw(window_of=None, suffix=".png"):
        run = read_run(directory)
        window = window_of(run) if window_of else None
        save(picture(timeline(run, page_cache(run), window=window)), run.name, tmp_path / f"timeline{suffix}")

    tasks = {
        "read the trace": lambda: page_cache(read_run(directory)),
        "read and draw, PNG": draw,
        "read and draw, SVG": lambda: draw(suffix=".svg"),
        "a close-up": lambda: draw(lambda run: around(run, "longest")),
    }
    for name, task in tasks.items():
        report(f"drawing: {name}", [spent(task) for _ in range(REPEATS)])
