"""The lab in Python, on real boots: the examples of its page, in order, as a program of a user."""

import os
import re
import subprocess
import sys

from wblab.lab.places import ROOT

PAGE = ROOT / "docs/reference/python.md"
# In the place of the matrix of the page, which takes minutes.
SMALL = """
name = "small"
base = "base"
[set]
"load.l1.size" = "12MiB"
"load.l2.wait" = "4s"
"load.l2.size" = "4MiB"
[axes.remedy]
none = {}
faster = { "disk.write_bps" = "4MiB/s" }
"""


def test_every_example_of_the_page_runs(kernel, tmp_path):
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", PAGE.read_text(), re.MULTILINE)
    program = "\n".join(re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks)
    made = 'wblab.run_study("remedies", seeds=10)'
    assert program.count(made) == 1
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "page.py").write_text(program.replace(made, 'wblab.run_study("small.toml", seeds=3, jobs="2")'))
    environment = os.environ | {
        "WBLAB_EXP": str(tmp_path / "exp"),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'misc'}",
        "MPLBACKEND": "agg",
    }
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "no spec 'base-devise' (did you mean 'base-device'?)" in said
    assert re.search(r"^l1 +\w+ ", said, re.MULTILINE), "the proof has a verdict"
    assert "w1" in said
    assert (tmp_path / "exp").is_dir()
