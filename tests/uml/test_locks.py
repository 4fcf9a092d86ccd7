"""Locks that a kernel with lock-stat traces, with the barrier of today and with that of Linux 4.10."""

import pytest

from wblab.analysis.runs.run import read_run
from wblab.claims.sources.cases import case_spec
from wblab.claims.sources.li.processors import by_readers, for_each_request
from wblab.claims.sources.sample import Sample
from wblab.host.request import ready
from wblab.host.run import run_experiment
from wblab.kernels import built_kernel, find_kernel


def sample(lab, case):
    """Return a run of a case on its own kernel."""
    spec = case_spec(case, 1, "7.2")
    name = spec.kernel.build
    if find_kernel(name) is None:
        pytest.skip(f"the kernel {name} is not built: wblab kernel build {name}")
    return Sample(read_run(run_experiment(ready(spec, built_kernel), lab.results).directory))


def test_reads_take_no_lock(lab):
    assert by_readers(sample(lab, "mirror-locks")) == 0


def test_reads_took_the_lock_of_linux_4_10(lab):
    old = sample(lab, "mirror-old-locks")
    assert by_readers(old) > 100
    assert 1.9 < for_each_request(old) < 2.1
