"""wblab monitor on the command line."""

import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from support.monitored import start


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
        (("no-such-run",), "no run 'no-such-run'"),
        (("--guest", "no-such-spec"), "no spec 'no-such-spec'"),
        (("--guest", "--set", "disk.size=1"), "disk.size"),
        (("latest", "--speed", "0"), "--speed 0 would never finish"),
        (("latest", "--dir", "."), "--dir has no effect here"),
        (("--speed", "2"), "--speed has no effect here"),
        (("latest", "--guest"), "not allowed with"),
        (("--port", "99999"), "--port: cannot listen on 99999"),
    ],
)
def test_invalid_arguments_are_refused_in_one_line(arguments, words):
    assert words in refused(*arguments)


def test_a_port_that_is_taken_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "in use: leave --port out" in refused("--port", str(taken.getsockname()[1]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_verb_prints_its_address_and_ends_cleanly(marked, number):
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


def test_the_server_opens_and_writes_no_files(marked, tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if os.geteuid():
        pytest.skip("an ordinary user may not lock that much memory")
    process = start("--dir", str(marked.directory), environment=marked.environment)
    with urllib.request.urlopen(f"{process.stdout.readline().strip()}samples") as stream:
        heard(stream, 5)
        status = Path(f"/proc/{process.pid}/status").read_text()
        log = tmp_path / "strace.log"
        command = [
            "strace",
            "-f",
            "-e",
            "trace=%file,write,writev,sendto,fsync",
            "-o",
            str(log),
            "-p",
            str(process.pid),
        ]
        tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        # A busy machine may take long to attach, and what the pipe holds was sent before: so what is traced is counted.
        while not (log.exists() and log.read_text().count("sendto(") >= 30):
            assert tracer.poll() is None, "strace ended by itself"
            heard(stream, 1)
        tracer.terminate()
        tracer.wait()
    process.terminate()
    process.communicate()
    calls = set(re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.MULTILINE))
    assert calls == {"sendto"}
    resident, locked = (int(re.search(rf"{key}:\s+(\d+) kB", status)[1]) for key in ("VmRSS", "VmLck"))
    assert locked > 0.9 * resident
    marked.await_nothing()


def heard(stream, batches):
    """Read so many batches from a stream of events."""
    while batches:
        line = stream.readline()
        assert line, "the stream ended"
        batches -= line.startswith(b'data: {"batch"')


def test_the_default_port_is_fixed_and_its_tunnel_is_named(marked):
    addresses, processes = [], []
    for _ in range(2):
        processes.append(start(environment=marked.environment))
        addresses.append(processes[-1].stdout.readline().strip())
    ports = [int(re.match(r"http://127\.0\.0\.1:(\d+)/", each)[1]) for each in addresses]
    assert ports[0] != ports[1]  # the second takes a free one; so does the first where somebody else has it
    for port, process in zip(ports, processes, strict=True):
        process.terminate()
        said = process.communicate()[1]
        assert f"ssh -L {port}:127.0.0.1:{port} " in said
    marked.await_nothing()


def test_the_plain_monitor_needs_no_packages_and_prints_lines(marked):
    process = start("--plain", environment=marked.environment, options=("-S",))
    name, *lines = [process.stdout.readline() for _ in range(8)]
    assert "this machine, Linux" in name
    assert re.fullmatch(r"\d\d:\d\d:\d\d\n", lines[0])
    assert [text.split(" ", 1)[0] for text in lines[1:6]] == ["now", "dirty", "throttled", "writers", "disks"]
    assert lines[6] == "\n"
    process.terminate()
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
def test_a_kill_at_any_moment_leaves_nothing(marked, may_trace, seed):
    chance = random.Random(seed)
    process = start("--dir", str(marked.directory), environment=marked.environment)
    process.stdout.readline()
    time.sleep(chance.uniform(0, 1.0))
    (os.kill if seed % 2 else os.killpg)(process.pid, signal.SIGKILL)
    process.communicate()
    marked.await_nothing()


@pytest.fixture
def many_files():
    """Permit this process enough open connections for the test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < MANY + 200:
        pytest.skip(f"{MANY} connections take more open files than this user may have: {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (MANY + 200 if soft != resource.RLIM_INFINITY else soft, hard))
    yield 1024
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


MANY = 1100


def test_half_open_connections_keep_no_page_waiting(many_files):
    """Each connection has sent half a request and is kept open; the page and its samples are still served."""
    limited = ["prlimit", f"--nofile={many_files}:{many_files}"]
    if shutil.which("prlimit") is None:
        pytest.skip("prlimit is not installed")
    process = start(before=limited)
    page = process.stdout.readline().strip()
    host, port = page.split("/")[2].split(":")
    with ExitStack() as stack:
        for number in range(MANY):
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            with suppress(ConnectionError):
                connection.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"[: number % 20])
        for path in ("", "page.js"):
            with urllib.request.urlopen(page + path, timeout=600) as response:
                assert response.status == 200
                assert response.read()
        with urllib.request.urlopen(f"{page}samples", timeout=600) as stream:
            heard(stream, 3)
    process.terminate()
    assert "Traceback" not in process.communicate()[1]
