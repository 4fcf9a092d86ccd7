"""An interruption at any moment of a run's record leaves a record that says so."""

import signal

import pytest

from wblab.core.status import Message
from wblab.host.process.boot import Ended
from wblab.host.recorded import recorded
from wblab.lab.formats import EXPERIMENT, RUN, UML


class Interrupting(dict):
    """A part of a record during whose writing SIGINT arrives, once."""

    def items(self):
        if self:
            self.clear()
            signal.raise_signal(signal.SIGINT)
        return super().items()


def test_a_run_that_is_interrupted_while_its_end_is_written_says_so(tmp_path):
    def make(staged, record):
        record["machine"] = Interrupting(x=1)
        return Ended(Message("loads", 0, {}), 1.0)

    with pytest.raises(KeyboardInterrupt):
        recorded(tmp_path, "run", RUN.head(UML), make)
    (run,) = tmp_path.iterdir()
    assert run.name.startswith("_")
    record = RUN.read(run / EXPERIMENT)
    assert (record["outcome"], record["reason"]) == ("failed", "interrupted")
