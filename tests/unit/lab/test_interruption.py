"""A SIGTERM or SIGINT that comes where Python drops exceptions."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, time, weakref
from wblab.lab.interruption import interruptible

class Thing:
    pass

def callback(reference):
    os.kill(os.getpid(), signal.{signal})
    time.sleep(1)

try:
    with interruptible():
        thing = Thing()
        reference = weakref.ref(thing, callback)
        del thing
        print("dropped", flush=True)
        time.sleep(30)
        print("slept")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_an_interrupt_that_a_callback_drops_comes_again(name):
    code = PROGRAM.format(signal=name)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=25)
    assert (done.stdout.split(), done.stderr) == (["dropped", "interrupted"], "")


def test_other_exceptions_there_are_told_as_ever():
    code = "from wblab.lab.interruption import interruptible\nimport weakref\n"
    code += "class Thing: pass\nwith interruptible():\n thing = Thing(); kept = weakref.ref(thing, lambda it: 1 / 0)\n"
    code += " del thing\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stderr
