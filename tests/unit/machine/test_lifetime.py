import os
import signal
import subprocess
import sys
from pathlib import Path

from support.waiting import wait_until

from wblab.lab.places import ROOT

PARENT = """
import os, time
from wblab.core.child import fork_child
from wblab.machine.processes import end_with
me = os.getpid()
def task():
    end_with(me)
    print(os.getpid(), flush=True)
    time.sleep(60)
fork_child(task)
time.sleep(60)
"""


def test_a_child_ends_with_its_parent_even_after_a_kill():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not Path(f"/proc/{child}").exists())
