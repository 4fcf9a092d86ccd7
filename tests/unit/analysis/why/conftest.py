"""Runs of one load, `mw1`, task 7, with an invented trace."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.blametraces import Story
from support.runs import write_run

from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.recorded import Recorded, read_recorded

MW1, IDLE_NS = 7, 100_000_000


@pytest.fixture
def story_run(tmp_path: Path) -> Callable[[Story, list[int]], tuple[Run, Recorded]]:
    """Return a function that makes a run with boundaries, in ns since the trace's start, and reads its events."""

    def tell(story: Story, boundaries_ns: list[int]) -> tuple[Run, Recorded]:
        path = write_run(tmp_path / "run", {"mw1": [story.start_ns + time for time in boundaries_ns]})
        (path / "trace.dat").write_bytes(story.encode())
        run = read_run(path)
        return run, read_recorded(run)

    return tell
