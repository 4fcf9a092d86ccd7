"""The real clock as a check of the virtual clock. This test has its own file because it takes long and mostly waits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from wblab.analysis.runs.run import Run

S = 1_000_000_000
SHORT = ("load.l1.size=40MiB", "load.l2.wait=25s", "load.l2.size=1MiB", "trace.buffer=8MiB")  # a busy host reads late


def longest_s(run: Run, name: str) -> float:
    return float(run.load(name).pauses_ns.max()) / S


def test_the_real_clock_agrees_with_the_virtual_one(shared_lab):
    seeds = (1, 2, 3)
    jobs = [(f"seed={seed}", f"clock.mode={mode}") for seed in seeds for mode in ("real", "virtual")]
    with ThreadPoolExecutor(len(seeds)) as pool:
        results = dict(zip(jobs, pool.map(lambda job: shared_lab.run("base", *SHORT, *job), jobs), strict=True))
    real, virtual = (
        np.median([longest_s(result, "mw1") for job, result in results.items() if job[1].endswith(mode)])
        for mode in ("real", "virtual")
    )
    # A busy host delays all loads; nothing else makes the control load wait.
    of_host = [result.load("c1").pauses_ns.sum() / S for job, result in results.items() if job[1] == "clock.mode=real"]
    assert 0.5 * virtual < real < 2 * virtual + np.median(of_host)
    for (_, mode), result in results.items():
        assert longest_s(result, "mw1") > 1, mode
        assert result.load("l1").end == "finished"
