"""The kernel's answers to settings: accepted, rejected or cleared."""

import pytest

from wblab.core.errors import InputError
from wblab.study.designs.trial.plan import read_answer
from wblab.study.designs.trial.recommendations import Value

VALUE = Value(name="it", sysctl={"vm.dirty_background_ratio": 1, "vm.dirty_background_bytes": 5, "vm.dirty_bytes": 0})
LOG = """refused vm.dirty_bytes
now vm.dirty_background_ratio 0
now vm.dirty_background_bytes 5
now vm.dirty_bytes 0
now nr_dirty_threshold 100
now nr_dirty_background_threshold 1
"""


def test_rejected_and_cleared_settings_are_reported(tmp_path):
    (tmp_path / "agent.setter.log").write_text(LOG)
    answer = read_answer(tmp_path)
    assert (answer.limit_bytes, answer.background_bytes) == (409600, 4096)
    assert answer.words(VALUE) == (
        "vm.dirty_bytes = 0 is rejected; vm.dirty_background_ratio = 1 is cleared by a later setting, and reads 0"
    )


@pytest.mark.parametrize("log", ["", "now\n", "refused\n", "now vm.dirty_bytes many\n", LOG.replace("nr_dirty_t", "t")])
def test_an_incomplete_log_is_refused(tmp_path, log):
    (tmp_path / "agent.setter.log").write_text(log)
    with pytest.raises(InputError, match="has no answer of the kernel"):
        read_answer(tmp_path)
