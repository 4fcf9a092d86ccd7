"""The page of what holds outside of User Mode Linux is made from what witnesses said, whichever there are."""

import pytest

from wblab.claims.outside import Statements, about
from wblab.claims.pages.outsidepage import short, whole
from wblab.core.tables import from_table

LISTED = from_table(
    Statements,
    {
        "study": {"two": {"spec": "two-disks", "set": ["seed=2"], "on": ["7.2", "stock:7.2", "stock:7.2@4"]}},
        "statement": [
            {"study": "two", "text": "it stalls", "page": "a.md", "loads": ["w", "m"], "are": "stalled"},
            {
                "study": "two",
                "text": "it does not",
                "page": "b.md",
                "loads": ["k"],
                "are": "not stalled",
                "on": ["7.2"],
            },
            {"study": "not made", "text": "never run", "page": "c.md", "loads": ["w"], "are": "stalled"},
        ],
    },
)


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
    return whole(LISTED, {"two": said([[4.0, 5.0], [0.1, 0.2], [2.0, 0.1]], [[6.0, 3.0], [0.2, 0.1], [3.0, 4.0]])})


def test_a_statement_holds_in_every_run_in_none_or_in_some(text):
    (row,) = (line for line in text.replace("\N{NO-BREAK SPACE}", " ").splitlines() if "it stalls" in line)
    assert row == ("| [it stalls](a.md) | ● 5.50 s (5.00 to 6.00) | ○ 200 ms | ? 3.50 s (3.00 to 4.00) |")


def test_a_statement_about_some_kernels_is_shown_for_those(text):
    (row,) = (line for line in text.replace("\N{NO-BREAK SPACE}", " ").splitlines() if "it does not" in line)
    assert row == "| [it does not](b.md) | ● 15 ms (10 to 20) |  |  |"


def test_the_short_form_has_medians_and_no_commands():
    text = short(LISTED, {"two": said([[4.0, 5.0], [0.1, 0.2], [2.0, 0.1]], [[6.0, 3.0], [0.2, 0.1], [3.0, 4.0]])})
    assert "| [it stalls](a.md) | ● 5.50 s | ○ 200 ms | ? 3.50 s |" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "wblab study" not in text


def test_what_was_not_run_is_left_out(text):
    assert "never run" not in text


def test_each_study_names_its_command_and_its_noise(text):
    command = "`wblab study two-disks --set seed=2 --on 7.2 --on stock:7.2 --on stock:7.2@4`"
    assert f"| {command} | 7.2 2 ms, stock:7.2 2 ms, stock:7.2@4 2 ms |" in text


def test_several_processors_of_user_mode_linux_have_a_table_and_name_what_was_spoiled():
    names = ["7.2", "7.2/real", "7.2+smp@4"]
    listed = {
        "study": {"smp": {"spec": "two-disks", "on": names}},
        "statement": [{"study": "smp", "text": "it stalls", "page": "a.md", "loads": ["w"], "are": "stalled"}],
    }
    kept = {
        "substrates": dict.fromkeys(names, "7.2.11"),
        "control_stall_s": {"7.2": [0.001, 0.002], "7.2/real": [0.1, 0.02], "7.2+smp@4": [0.1]},
        "spoiled": [
            {"substrate": "7.2/real", "seed": 1, "control_stall_s": [0.4], "repeated": True},
            {"substrate": "7.2+smp@4", "seed": 2, "control_stall_s": [0.5, 0.6, 0.4], "repeated": False},
        ],
        "loads": {"w": {"longest_pause_s": {"7.2": [4.0, 5.0], "7.2/real": [3.0, 3.5], "7.2+smp@4": [0.1]}}},
    }
    text = whole(from_table(Statements, listed), {"smp": kept}).replace("\N{NO-BREAK SPACE}", " ")
    _, table = text.split("## User Mode Linux with several processors")
    assert "|  | in the lab | 1 processor | 4 processors |\n" in table
    assert "| [it stalls](a.md) | ● 4.50 s (4.00 to 5.00) | ● 3.25 s (3.00 to 3.50) | ○ 100 ms |\n" in table
    assert (
        "7.2/real seed 1 (400 ms), repeated; spoiled: 7.2+smp@4 seed 2 (500 ms, 600 ms, 400 ms), not counted |" in table
    )


def test_a_statement_can_compare_two_studies_seed_by_seed():
    studies = {name: {"spec": "two-disks", "on": ["7.2", "stock:7.2", "stock:7.2@4"]} for name in ("two", "short")}
    statement = {"study": "short", "text": "less", "page": "a.md", "loads": ["w", "m"], "shorter": "two"}
    listed = from_table(
        Statements,
        {"study": studies | {"none": studies["two"]}, "statement": [statement]},
    )
    long = said([[4.0, 2.0], [4.0, 2.0], [1.0, 1.0]], [[0.0, 0.0]] * 3)
    short = said([[2.0, 0.5], [3.0, 0.1], [0.6, 0.9]], [[0.1, 0.2]] * 3)
    (row,) = (line for line in whole(listed, {"two": long, "short": short}).splitlines() if "[less]" in line)
    assert [cell.strip()[0] for cell in row.split("|")[2:5]] == ["●", "?", "○"]
    (row,) = (line for line in whole(listed, {"short": short}).splitlines() if "[less]" in line)
    assert [cell.strip() for cell in row.split("|")[2:5]] == ["–"] * 3  # nothing to compare with


def test_statements_about_a_setting_are_found_by_its_key():
    texts = [statement.text for statement, _ in about("nr_requests")]
    assert "With a queue of 512 KiB for the slow disk, programs on the fast one are not stalled" in texts
    assert not any("openat" in text for text in texts)
    assert about("requests") == []
