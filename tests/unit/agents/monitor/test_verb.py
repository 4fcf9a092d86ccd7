"""wblab monitor, as a command."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from wblab.core.specfile import ROOT


def start(*arguments, environment=None):
    return subprocess.Popen(
        [sys.executable, "-m", "wblab", "monitor", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def refused(*arguments):
    process = start(*arguments)
    out, error = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dir", "/no/such/directory"), "--dir: cannot write to '/no/such/directory'"),
        (("--run", "no-such-run"), "no run 'no-such-run'"),
        (("--guest", "no-such-spec"), "no spec 'no-such-spec'"),
        (("--guest", "--set", "disk.size=1"), "disk.size"),
        (("--run", "latest", "--speed", "0"), "--speed: 0 times as fast never ends"),
        (("--run", "latest", "--dir", "."), "--dir says nothing here"),
        (("--speed", "2"), "--speed says nothing here"),
        (("--run", "latest", "--guest"), "not allowed with"),
        (("--port", "99999"), "--port: cannot listen on 99999"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, words):
    assert words in refused(*arguments)


def test_a_port_that_is_taken_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "in use: leave it out" in refused("--port", str(taken.getsockname()[1]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_serves_and_ends_cleanly(marked, number):
    process = start("--dir", str(marked.directory), environment=marked.environment)
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address) as answer:
        assert b"wblab monitor" in answer.read()
    with urllib.request.urlopen(f"{address}samples") as stream:
        lines = [stream.readline() for _ in range(20)]
    assert sum(text.startswith(b'data: {"batch"') for text in lines) >= 3
    process.send_signal(number)
    assert process.wait() == 0
    marked.await_nothing()


def test_samples_are_lines_of_json(marked):
    process = start("--json", environment=marked.environment)
    kinds = [next(iter(json.loads(process.stdout.readline()))) for _ in range(4)]
    assert kinds == ["source", "batch", "batch", "batch"]
    process.stdout.close()  # the reader has seen enough
    assert process.wait() == 0
    assert "Traceback" not in process.stderr.read()
    marked.await_nothing()


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_it_leaves_nothing(marked, may_trace, seed):
    chance = random.Random(seed)
    process = start("--dir", str(marked.directory), environment=marked.environment)
    process.stdout.readline()
    time.sleep(chance.uniform(0, 1.0))
    (os.kill if seed % 2 else os.killpg)(process.pid, signal.SIGKILL)
    process.communicate()
    marked.await_nothing()
