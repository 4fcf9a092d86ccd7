"""What values say of statements: in how many runs each holds, and what is compared with the same seed."""

import pytest
from support.reports import cells, tables

from wblab.claims.finding import kept
from wblab.claims.finding.finding import Finding, Point
from wblab.claims.finding.kept import MeasuredPoint, judged
from wblab.claims.finding.report import repeated
from wblab.claims.finding.words import FindingWords, judged_words, markdown, plain
from wblab.core.errors import InputError
from wblab.core.tables import from_table

TABLE = {
    "title": "t",
    "claim": "c",
    "since": "s",
    "pays": "p",
    "helps": "h",
    "statement": [
        {"text": "it is stalled", "value": "slow", "are": "stalled"},
        {"text": "it is not", "value": "fast", "are": "not stalled"},
        {"text": "it is shorter", "value": "fast", "shorter": "slow"},
    ],
    "value": {
        "slow": {"matrix": "m", "at": {"kernel": "7.2"}, "loads": ["w", "m"]},
        "fast": {"matrix": "m", "at": {"kernel": "7.3"}, "loads": ["w"]},
    },
    "table": {
        "all": {
            "matrix": "m",
            "head": "kernel",
            "columns": [{"head": "pause", "loads": ["w"]}, {"head": "median", "loads": ["m"], "shown": "median"}],
            "rows": {"old": {"kernel": "7.2"}, "new": {"kernel": "7.3"}},
        }
    },
}
SLOW, FAST = Point("m", (("kernel", "7.2"),)), Point("m", (("kernel", "7.3"),))


@pytest.fixture
def finding():
    return from_table(Finding, TABLE)


def measured(w, m, release="7.2.11"):
    return MeasuredPoint((1, 2), release, {("w", "longest_pause_s"): w, ("m", "longest_pause_s"): m})


def test_a_statement_holds_if_it_does_in_every_run(finding):
    values = {SLOW: measured((0.1, 2.0), (1.0, 1.0)), FAST: measured((0.2, 0.4), (0.0, 0.0))}
    assert [(one.holds, one.verdict.held, one.values) for one in judged(finding, values)] == [
        (True, 2, (1.0, 2.0)),  # of several loads, the worst
        (False, 1, (0.2, 0.4)),
        (True, 2, (0.2, 0.4)),  # at most half with the same seed
    ]


def test_what_was_not_run_is_not_judged(finding):
    assert [one.statement.value for one in judged(finding, {FAST: measured((0.1, 0.1), (0.0, 0.0))})] == ["fast"]


def test_words_say_how_often_and_instead_of_what(finding):
    values = {SLOW: measured((4.0, 2.0), (1.0, 1.0)), FAST: measured((0.2, 0.4), (0.0, 0.0))}
    assert [judged_words(one, finding) for one in judged(finding, values)] == [
        "in all 2 runs, 3 s (2 to 4)",
        "in 1 of 2 runs, 300 ms (200 to 400)",
        "in all 2 runs, 300 ms (200 to 400), instead of 3 s (2 to 4)",
    ]


def test_the_report_of_new_runs_says_what_holds_beside_what_is_kept(finding):
    before = {SLOW: measured((4.0, 2.0), (1.0, 1.0)), FAST: measured((0.2, 0.4), (0.0, 0.0))}
    now = {SLOW: measured((4.0, 2.0), (1.0, 1.0)), FAST: measured((0.2, 0.9), (0.0, 0.0))}
    made = repeated(finding, before, now, ["exp/x"])
    assert made.headline == "2 of 3 statements hold in every run."
    assert cells(tables(made)[0])[:2] == [
        ["holds", "it is stalled", "in all 2 runs, 3 s (2 to 4)", "in all 2 runs, 3 s (2 to 4); the same to the bit"],
        [
            "DOES NOT HOLD",
            "it is not",
            "in 1 of 2 runs, 550 ms (200 to 900)",
            "in 1 of 2 runs, 300 ms (200 to 400)",
        ],
    ]


def test_kept_values_are_read_back_and_hold_only_what_is_shown(finding, tmp_path):
    extra = MeasuredPoint((1, 2), "7.2.11", measured((1.0, 2.0), (3.0, 4.0)).metrics | {("w", "paused_s"): (9.0, 9.0)})
    kept.write(tmp_path, {SLOW: extra, FAST: extra}, finding.shown())
    assert kept.read(tmp_path)[SLOW] == measured((1.0, 2.0), (3.0, 4.0))
    assert kept.read(tmp_path / "none") == {}


@pytest.mark.parametrize("text", ["{", '{"format":1,"kind":"finding"}', '{"format":1,"kind":"finding","points":[1]}'])
def test_a_damaged_file_is_refused_in_one_line(text, tmp_path):
    (tmp_path / kept.FILE).write_text(text)
    with pytest.raises(InputError, match=r"figures\.json"):
        kept.read(tmp_path)


def test_tables_for_pages_and_mails(finding):
    values = {SLOW: measured((4.0, 2.0), (1.0, 1.0)), FAST: measured((0.2, 0.4), (0.0, 0.0), "7.3.0-rc7")}
    page, mail = FindingWords(finding, values, markdown), FindingWords(finding, values, plain)
    assert page.table["all"].replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "| kernel | pause | median |",
        "| --- | --- | --- |",
        "| old | 3 s (2 to 4) | 1 s |",
        "| new | 300 ms (200 to 400) | 0 s |",
    ]
    assert mail.table["all"].splitlines()[1:] == [
        "  old     3 s (2 to 4)         1 s",
        "  new     300 ms (200 to 400)  0 s",
    ]
    assert (page.seeds, page.releases) == ("2", "7.3.0-rc7, 7.2.11")


def test_a_table_too_wide_for_a_mail_has_a_line_for_each_value():
    text = plain(
        ["longest pause", "as it is", "changed"], [["a case with many words" * 2, "1.00 s (0.50 to 2.00)", "–"]]
    )
    assert text.splitlines() == [
        "  longest pause",
        "  a case with many wordsa case with many words",
        "    as it is  1.00 s (0.50 to 2.00)",
        "    changed   –",
    ]
    assert max(map(len, text.splitlines())) <= 72
