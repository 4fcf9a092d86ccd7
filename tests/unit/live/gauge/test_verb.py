"""wblab monitor --metrics and --textfile on the command line."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.monitored import start
from support.waiting import wait_until

from wblab.host.command import interpreter
from wblab.lab.places import ROOT
from wblab.live.gauge.catalogue import METRICS, PROCESSOR
from wblab.machine.tasks import no_stacks
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

COMMAND = [sys.executable, "-m", "wblab", "monitor"]


def asked(url):
    """Return the values that are answered, by name and labels."""
    with urllib.request.urlopen(url) as answer:
        return values(answer.read().decode())


def values(text):
    families = text_string_to_metric_families(text)
    return {(item.name, tuple(item.labels.values())): item.value for family in families for item in family.samples}


def may_trace():
    with Undo() as undo:
        try:
            Instance("probe", undo)
        except OSError:
            return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_all_metrics_are_answered_and_the_gauge_ends_cleanly(marked, tmp_path, number):
    file = tmp_path / "wblab.prom"
    process = start("--metrics", "0", "--textfile", str(file), environment=marked.environment)
    url = process.stdout.readline().strip()
    found = asked(url)
    sources = {labels[0] for (name, labels), value in found.items() if name == "wblab_source_available" and value}
    lacking = {metric.name for metric in METRICS if metric.source not in {*sources, "gauge"}}
    assert {name for name, _ in found} == {metric.name for metric in METRICS} - lacking
    assert ("tracepoints" in sources) == may_trace()
    assert ("stacks" in sources) == (not no_stacks())
    if "tracepoints" in sources:
        assert found["wblab_cgroup_dirty_throttled_seconds_total", ("/",)] >= 0
    before = found[PROCESSOR.name, ()]
    wait_until(lambda: asked(url)[PROCESSOR.name, ()] > before)  # it goes on
    assert {name for name, _ in values(file.read_text())} == {name for name, _ in found}
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == 0
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
    marked.await_nothing()


WITHOUT_ROOT = """
import time
from contextlib import ExitStack
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.thismachine import ThisMachine
from wblab.machine.undo import Undo
with Undo() as undo, ExitStack() as stack:
    counts = Counts()
    machine = ThisMachine(counts, undo, stack)
    machine.tick(time.monotonic_ns())
    print(machine.lacking())
    for metric, rows in counts.all().items():
        values = [f"{labels[0]}={value:.0f}" for labels, value in rows.items() if labels]
        print(metric.name, *(values if metric.source == "gauge" else ()))
"""


def test_without_root_it_says_which_series_lack_and_why(marked, readable_lab):
    nobody = {} if os.geteuid() else {"user": 65534, "group": 65534}
    done = subprocess.run(
        [interpreter(), "-S", "-c", WITHOUT_ROOT],
        cwd="/",
        env=marked.environment | {"PYTHONPATH": str(readable_lab)},
        capture_output=True,
        text=True,
        check=True,
        **nobody,
    )
    lacking, *rows = done.stdout.splitlines()
    assert "no wblab_dirty_throttled_*, wblab_cgroup_dirty_*, wblab_flusher_idle_*, wblab_trace_lost_* (" in lacking
    assert ": only root may trace)" in lacking
    assert "; tasks are counted as of an unknown kind (/proc/PID/stack (root): " in lacking
    assert not {"wblab_dirty_throttled_seconds_total", "wblab_trace_lost_events_total"} & set(rows)
    assert {"wblab_dirty_bytes", "wblab_tasks_blocked"} <= set(rows)
    (available,) = (text for text in rows if text.startswith("wblab_source_available"))
    assert {"memory=1", "stacks=0", "tracepoints=0"} <= set(available.split())


def test_a_kill_leaves_no_trace_instance(marked):
    process = start("--metrics", "0", environment=marked.environment)
    process.stdout.readline()
    process.kill()
    process.communicate()
    marked.await_nothing()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--metrics", "example"), "--metrics: 'example' is no address: give a port such as 9644"),
        (("--metrics", "203.0.113.1:9644"), "--metrics: cannot listen on 203.0.113.1:9644: Cannot assign requested"),
        (("--metrics", "no-such-host.invalid:1"), "--metrics: cannot listen on no-such-host.invalid:1: "),
        (("--textfile", "metrics.txt"), "--textfile: metrics.txt: node-exporter reads only files that end in .prom"),
        (("--textfile", "/no/such/x.prom"), "--textfile: cannot write /no/such/x.prom: No such file or directory"),
        (("--metrics", "0", "--json"), "--json has no effect here"),
        (("--metrics", "0", "--port", "0"), "--port has no effect here"),
        (("latest", "--textfile", "x.prom"), "RUN has no effect here"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(marked, arguments, words):
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=marked.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"wblab: {words}")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    marked.await_nothing()


def test_a_port_that_is_taken_is_refused(marked):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = subprocess.run(
            [*COMMAND, "--metrics", str(taken.getsockname()[1])], cwd=ROOT, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"wblab: --metrics: cannot listen on 127.0.0.1:\d+: Address already in use: .*\n", done.stderr)
