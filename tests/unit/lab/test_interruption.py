"""A SIGTERM or SIGINT that arrives where Python drops exceptions."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, time, weakref
from wblab import cli
from wblab.cli import interruptible
cli._A_MOMENT_S = {moment_s}

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
        time.sleep(400)
        print("slept")
except KeyboardInterrupt as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("moment_s", [0.01, 1e-4])  # the second passes before Python has dropped the exception
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_an_interrupt_swallowed_by_a_callback_is_raised_again(name, moment_s):
    code = PROGRAM.format(signal=name, moment_s=moment_s)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=600)
    # The repeated interrupt may overtake the print before it.
    expected = {"SIGTERM": "Terminated", "SIGINT": "KeyboardInterrupt"}[name]
    assert ("".join(done.stdout.split()).removeprefix("dropped"), done.stderr) == (expected, "")


def test_other_exceptions_in_callbacks_are_reported_as_usual():
    code = "from wblab.cli import interruptible\nimport weakref\n"
    code += "class Thing: pass\nwith interruptible():\n thing = Thing(); kept = weakref.ref(thing, lambda it: 1 / 0)\n"
    code += " del thing\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stderr


BEGINNING = """
import builtins, os, signal, sys, time
import wblab.__main__

def interrupted(name, *rest, real=builtins.__import__):
    if name == "wblab.cli":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(400)
    return real(name, *rest)

builtins.__import__ = interrupted
wblab.__main__.main(["--version"])
"""
END = """
import atexit, os, signal, sys, time
from wblab.__main__ import main

def late():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(400)

atexit.register(late)
sys.exit(main(["kernel", "list"]))
"""


@pytest.mark.parametrize("program", [BEGINNING, END], ids=["while the lab is imported", "as Python ends"])
def test_an_interrupt_outside_a_verb_is_one_line(program):
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (130, "wblab: interrupted\n")


MAKES_A_CLASS = """
import sys
from wblab.cli import main

sys.exit(main(["kernel", "list"], run=lambda arguments: exec("raise KeyboardInterrupt")))
"""


def test_an_interrupt_while_a_module_makes_a_dataclass_is_no_signal_s_end(tmp_path):
    (tmp_path / "interrupted.py").write_text(MAKES_A_CLASS)
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "wblab: interrupted\n")
