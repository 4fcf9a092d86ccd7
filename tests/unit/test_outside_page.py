"""The page of what holds outside of User Mode Linux is made from what witnesses said, whichever there are."""

import tomllib

import outside
import pytest
from outside import page

LISTED = {
    "study": {"two": {"spec": "two-disks", "set": ["seed=2"], "on": ["7.2", "stock:7.2", "stock:7.2@4"]}},
    "statement": [
        {"study": "two", "text": "it stalls", "page": "a.md", "loads": ["w", "m"], "are": "stalled"},
        {"study": "two", "text": "it does not", "page": "b.md", "loads": ["k"], "are": "not stalled", "on": ["7.2"]},
        {"study": "not made", "text": "never run", "page": "c.md", "loads": ["w"], "are": "stalled"},
    ],
}


def said(w, m):
    """Return what a witness says of two loads, by substrate, and of a third that is never stalled."""
    names = ["7.2", "stock:7.2", "stock:7.2@4"]
    loads = {"w": dict(zip(names, w, strict=True)), "m": dict(zip(names, m, strict=True))}
    loads["k"] = {name: [0.01, 0.02] for name in names}
    return {
        "substrates": dict(zip(names, ["7.2.11", "7.2.11+deb13-amd64", "7.2.11+deb13-amd64"], strict=True)),
        "control_stall_s": {name: [0.001, 0.002] for name in names},
        "loads": {name: {"agreement": "agree", "longest_pause_s": values} for name, values in loads.items()},
    }


@pytest.fixture
def text():
    return page(LISTED, {"two": said([[4.0, 5.0], [0.1, 0.2], [2.0, 0.1]], [[6.0, 3.0], [0.2, 0.1], [3.0, 4.0]])})


def test_a_statement_holds_in_every_run_in_none_or_in_some(text):
    (row,) = (line for line in text.replace("\N{NO-BREAK SPACE}", " ").splitlines() if "it stalls" in line)
    assert row == ("| [it stalls](a.md) | ● 5.50 s (5.00 to 6.00) | ○ 200 ms | ? 3.50 s (3.00 to 4.00) |")


def test_a_statement_about_some_kernels_is_shown_for_those(text):
    (row,) = (line for line in text.replace("\N{NO-BREAK SPACE}", " ").splitlines() if "it does not" in line)
    assert row == "| [it does not](b.md) | ● 15 ms (10 to 20) |  |  |"


def test_what_was_not_run_is_left_out(text):
    assert "never run" not in text


def test_each_study_names_its_command_and_its_noise(text):
    command = "`wblab witness two-disks --set seed=2 --on 7.2 --on stock:7.2 --on stock:7.2@4`"
    assert f"| {command} | 7.2 2 ms, stock:7.2 2 ms, stock:7.2@4 2 ms |" in text


def test_the_page_is_what_the_kept_answers_make():
    listed = tomllib.loads(outside.LIST.read_text())
    assert outside.PAGE.read_text() == page(listed, outside.read_kept(listed))
