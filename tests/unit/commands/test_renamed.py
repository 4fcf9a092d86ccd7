"""Lines of 0.1 as they are written today, and that they run."""

import shlex

import pytest

from wblab.cli import build_parser, main
from wblab.commands.renamed import renamed
from wblab.lab.places import ROOT

LINES = [
    ("matrix my.toml --seeds 3", "study my.toml --seeds 3"),
    ("explore --resume latest", "study --resume latest"),
    ("explore exp/a --row 17", "repeat exp/a --run 17"),
    ("verify", "study thesis"),
    ("verify --source li --seeds 3 L1 L2", "study li L1 L2 --seeds 3"),
    ("verify openat-ext4 --kernel 6.1", "study openat-ext4 --kernel 6.1"),
    ("verify --resume=a", "study --resume=a"),
    ("trial 7 21e --seeds 5", "study folk-wisdom 7 21e --seeds 5"),
    ("trial --file mine.toml", "study mine.toml"),
    ("atlas --source li --series 6.1 --filesystem ext4", "study atlas li --kernel 6.1 --filesystem ext4"),
    ("witness base", "study base --on all"),
    ("witness base --on stock:7.2", "study base --on stock:7.2"),
    ("finding run low-limits --update", "study low-limits --update"),
    ("finding list", "finding list"),
    ("twin latest", "study latest"),
    ("twin --from-host /srv", "study here:/srv"),
    ("ab 7.2 6.12 --spec base", "study --kernels 7.2 6.12 --spec base"),
    ("merge a b", "study --merge a b"),
    ("rerun latest --explain", "repeat latest --explain"),
    ("audit exp/a --share 1% --seed=2", "repeat exp/a --share 1% --choice=2"),
    ("open a.wblab --repeat --run x", "repeat a.wblab --run x"),
    ("open a.wblab --keep", "open a.wblab --keep"),
    ("golden --series all", "repeat golden --series all"),
    ("pauses latest", "why --pauses latest"),
    ("layers latest", "why --layers latest"),
    ("export latest --format perfetto", "timeline --format perfetto-trace latest"),
    ("clean --failed", "runs --clean --failed"),
    ("site out", "pack --site out"),
    ("kernel stock 7.2", "kernel build --stock 7.2"),
    ("kernel source 7.2 a", "kernel info --source 7.2 a"),
    ("lesson list", "lesson start --list"),
    ("lesson reset 2", "lesson start --anew 2"),
    ("lesson pictures out", "lesson show --pictures out"),
]


@pytest.mark.parametrize(("old", "now"), LINES)
def test_a_line_of_before_is_written_as_today(old, now):
    assert renamed(shlex.split(old)) == shlex.split(now)
    assert build_parser().parse_args(shlex.split(now))
    assert renamed(shlex.split(now)) == shlex.split(now)


def test_a_line_of_before_says_what_is_written_today_and_runs(nothing_boots, capsys):
    assert main(["clean", "--failed", "--exp", str(nothing_boots)]) == 0
    said = capsys.readouterr()
    assert said.err == f"wblab: today this is written: wblab runs --clean --failed --exp {nothing_boots}\n"
    assert said.out == "nothing to remove\n"


def test_the_changelog_lists_what_moved():
    told = (ROOT / "CHANGELOG.md").read_text()
    for verb in {old.split()[0] for old, now in LINES if old != now} - {"finding", "kernel", "lesson", "open"}:
        assert f"`wblab {verb}" in told
