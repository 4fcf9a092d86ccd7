"""wblab lesson start --anew, from within the directory that it renames."""

import argparse

from support.lessonbegun import begin

from wblab.commands.lesson.begin import reset_arguments


def test_reset_says_how_to_leave_the_directory_that_was_renamed(tmp_path, monkeypatch, capsys):
    at = begin(tmp_path)
    monkeypatch.chdir(at.directory)
    parser = argparse.ArgumentParser()
    reset_arguments(parser)
    arguments = parser.parse_args([])
    arguments.run(arguments)
    assert capsys.readouterr().out.splitlines()[-1] == "    cd ../01-mine"
