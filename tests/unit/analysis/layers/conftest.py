"""Runs of one load, `s1`, task 7, that writes and waits, with an invented trace."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs import write_run_of
from support.writetraces import WriteStory

from wblab.analysis.runs.run import Run, read_run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

S1 = 7


@pytest.fixture
def story_run(tmp_path: Path) -> Callable[[WriteStory, int], Run]:
    """Return a function that makes a run of one cycle of so many ns."""

    def tell(story: WriteStory, end_ns: int) -> Run:
        spec = read_spec(SPECS.find("layers"))
        spec = replace(spec, load={"s1": spec.load["s1"]})
        path = write_run_of(spec, tmp_path / "run", {"s1": [story.start_ns, story.start_ns + end_ns]})
        (path / "trace.dat").write_bytes(story.encode())
        return read_run(path)

    return tell
