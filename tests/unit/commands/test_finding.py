"""What wblab finding says, and mistakes with it: one line, exit code 2, nothing booted, nothing written."""

import json

import pytest

from wblab.claims.finding.finding import names
from wblab.cli import main


def test_the_list_names_all_findings(capsys):
    assert main(["finding", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(names())]] == names()
    assert main(["finding", "list", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == names()


@pytest.mark.parametrize("name", names())
def test_a_finding_is_shown_as_text_and_as_json(name, capsys):
    assert main(["finding", "show", name]) == 0
    shown = capsys.readouterr().out
    assert main(["finding", "show", name, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert all(one["text"] in shown for one in said["statements"])
    assert said["statements"]
    assert f"wblab study {name}" in shown


def test_what_was_confirmed_outside_is_shown_with_the_finding(capsys):
    assert main(["finding", "show", "flusher-at-the-limit", "--json"]) == 0
    outside = json.loads(capsys.readouterr().out)["outside"]
    assert {"7.2", "stock:7.2", "stock:7.2@4"} <= {one["substrate"] for one in outside}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["finding", "show", "low-limits"], "no finding 'low-limits'"),
        (["study", "flusher"], "nothing to study is called 'flusher'"),
        (["study", "low-limits-beside-a-slow-disk", "--seeds", "0"], "argument --seeds"),
        (["study", "--resume", "none"], "none"),
        (["study", "here:/nowhere"], "cannot use the directory '/nowhere': No such file or directory"),
        (["study", "low-limits-beside-a-slow-disk"], "wblab kernel build"),  # none is built in an empty cache
        (["study", "low-limits-beside-a-slow-disk", "jbod"], "a part is for --update"),
        (["study", "low-limits-beside-a-slow-disk", "jbod", "--update"], "jbod: no figure of low-limits"),
        (["finding", "export", "none", "out"], "no finding 'none'"),
        (["finding", "export", "low-limits-beside-a-slow-disk", "full"], "'full' is not empty: name a new directory"),
        (["finding", "export", "low-limits-beside-a-slow-disk", "full/file/below"], "cannot make the directory"),
        (["finding", "exprot"], "no verb 'exprot' (did you mean 'export'?)"),
    ],
)
def test_a_mistake_is_one_line(arguments, said, nothing_boots, capsys):
    (nothing_boots / "full").mkdir()
    (nothing_boots / "full" / "file").touch()
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert not printed.out
    (line,) = printed.err.splitlines()
    assert said in line
    assert not (nothing_boots / "out").exists()
