"""A site of runs made here: every copied line of a sample repeats its run, to the bit."""

import random
import shlex

import pytest
from support.quickruns import SECONDS
from support.sites import copied_lines, dead_links

from wblab.cli import main
from wblab.core.spec import Spec
from wblab.kernels import built_kernels
from wblab.lab.progress import silent
from wblab.lab.specfile import read_spec
from wblab.publish.site.build import SiteContent, files
from wblab.publish.site.write import write

MATRIX = """
base = "base-device"
seeds = 2
[set]
{settings}
[axes.queue]
short = {{ "disk.queue.nr_requests" = 4 }}
long = {{}}
"""
SAMPLE = 3


def quick(path, settings=()) -> Spec:
    return read_spec(path, [*SECONDS, *settings])


@pytest.fixture(scope="module")
def site(kernel, tmp_path_factory):
    """The directory of a site with a study of four short runs and a gallery of one."""
    room = tmp_path_factory.mktemp("site")
    pairs = (setting.partition("=")[::2] for setting in SECONDS)
    settings = "\n".join(f'"{key}" = {value if value.isdecimal() else repr(value)}' for key, value in pairs)
    (room / "short.toml").write_text(MATRIX.format(settings=settings))
    assert main(["study", str(room / "short.toml"), "--exp", str(room / "exp")]) == 0
    (study,) = (room / "exp").glob("*_short")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wblab.publish.site.build.read_spec", quick)
        wanted = SiteContent(("base-device",), [study], 1)
        write(room / "site", files(wanted, room / "exp", built_kernels(), silent))
    return room / "site"


def test_every_link_of_a_site_of_real_runs_leads_somewhere(site):
    assert dead_links(site) == []
    assert (site / "runs/base-device/trace.perfetto-trace.gz").stat().st_size > 1000
    assert "<b>Editor w1 " in (site / "runs/base-device/index.html").read_text()


def test_copied_lines_end_in_identical(site, tmp_path, monkeypatch, capsys):
    lines = copied_lines(site)
    assert len(lines) == 5
    monkeypatch.chdir(site)
    for line in random.Random(1).sample(lines, SAMPLE):
        program, *arguments = shlex.split(line)
        assert program == "wblab"
        assert main([*arguments, "--exp", str(tmp_path)]) == 0, line
        assert capsys.readouterr().out.startswith("Identical:"), line
