"""What the daemon costs: processor time and memory, with 500 processes of which some write."""

import json
import os
import subprocess
import sys
import time

import pytest
from support.benchlog import report
from support.timing import Spent, piece_s

from wblab.lab.places import ROOT

pytestmark = [pytest.mark.bench, pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as the daemon does")]
PROCESSES, WRITERS, THREADED = 500, 10, 20
DURATION_S = 60
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Sleeping processes; some of them write 64 KiB a second, some have eight threads, and one starts short commands.
CROWD = """
import os, sys, threading, time
directory, processes, writers, threaded = sys.argv[1], *map(int, sys.argv[2:])
def write(number):
    with open(f"{directory}/{number}", "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
            time.sleep(1)
for number in range(processes):
    if not os.fork():
        if number < writers:
            write(number)
        elif number < writers + threaded:
            for _ in range(7): threading.Thread(target=time.sleep, args=(1e6,)).start()
        time.sleep(1e6)
print("ready", flush=True)
while True:
    os.spawnlp(os.P_WAIT, "true", "true")
    time.sleep(0.2)
"""


@pytest.fixture
def crowd(tmp_path):
    arguments = [str(tmp_path), str(PROCESSES), str(WRITERS), str(THREADED)]
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", CROWD, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
    process.communicate()


@pytest.mark.parametrize("source", ["taskstats", "proc"])
def test_cost(crowd, tmp_path, source):
    config = tmp_path / "mitigate.toml"
    values = {
        "state": str(tmp_path / "state"),
        "policy": "idle",
        "bandwidth": "100MiB/s",
        "learned": "",
        "only": ["no process has this name"],
    }
    config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))
    without = "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 12, 0, 0, 0); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-m", "wblab", "mitigate", "--config", str(config)]
    if source == "proc":  # without CAP_NET_ADMIN
        command = [sys.executable, "-c", without, *command]
    daemon = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        while "takes" not in daemon.stdout.readline():
            pass
        before_s = sum(times(daemon.pid))
        start_s = time.monotonic()
        time.sleep(DURATION_S)
        spent_s = sum(times(daemon.pid)) - before_s
        wall_s = time.monotonic() - start_s
        memory = [line.split(":")[1].strip() for line in status(daemon.pid) if line.startswith(("VmRSS", "RssAnon"))]
    finally:
        daemon.terminate()
        daemon.communicate()
    count = sum(name.isdigit() for name in os.listdir("/proc"))
    report(f"mitigate: {DURATION_S} s with {source}", [Spent(wall_s, spent_s, piece_s())])
    share = spent_s / wall_s
    print(f"\n  {count} processes, {share:.2%} of a core, {memory[0]} resident, {memory[1]} of it its own")


def times(pid):
    """Return the processor time of a process in seconds, as a program and in the kernel; children that ended apart."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) / TICKS_PER_S, int(fields[12]) / TICKS_PER_S


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return file.readlines()
