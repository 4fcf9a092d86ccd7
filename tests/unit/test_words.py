"""Figures in prose: what docs/words.toml lists is on its page and true of its tables, and nothing else is there."""

import pytest
import words as docs_words
from figures import figures
from words import Bound, Cell, given, text_of, unlisted, words


@pytest.mark.parametrize("one", words(), ids=lambda one: f"{one.page}: {one.text[:50]}")
def test_words_are_on_their_page_and_true_of_its_tables(one):
    assert one.stands(text_of(one.page)), "the page does not say so any more: change docs/words.toml with it"
    assert one.bounds, "these words are held to nothing"
    wrong = [f"{bound.cell} is {bound.value():.3g}" for bound in one.bounds if not bound.holds()]
    assert not wrong, "the tables say another thing: change the sentence"


@pytest.mark.parametrize("page", given())
def test_each_quantity_in_the_prose_of_a_page_is_listed(page):
    assert unlisted(page, given()[page]) == []


@pytest.mark.parametrize("page", given())
def test_what_is_given_is_on_its_page(page):
    text = " ".join(text_of(page).split())
    assert [one for one in given()[page] if one not in text] == []


def test_figures_of_the_same_runs_are_the_same_in_tables_and_sentences():
    shown = {}
    for figure in figures():
        for value, text in zip(figure.values, figure.shown(), strict=True):
            key = (value.matrix, value.levels, value.metric, value.loads, value.is_sum)
            shown.setdefault(key, {}).setdefault(text.split(" (")[0].removesuffix(" s"), []).append(figure.name)
    assert [texts for texts in shown.values() if len(texts) > 1] == []


@pytest.fixture
def page(tmp_path, monkeypatch):
    table = "| remedy | `w1`, s | rate |\n|---|---|---|\n| none | 23.8 (19.8 to 23.9) | 1.06 |\n"
    other = "| remedy | w1 |\n|---|---|\n| none | **8.3 ms** (7 ms to 1.2 s) |\n"
    (tmp_path / "page.md").write_text(f"# One\n\nIt is 3 s, not 5 s.\n\n{table}\n# Two\n\n{other}")
    monkeypatch.setattr(docs_words, "DOCS", tmp_path)
    return "page.md"


def test_a_cell_is_found_by_row_column_and_heading(page):
    assert Cell(page, "none", "`w1`, s").value() == 23.8
    assert Cell(page, "none", "`w1`, s", part="most").value() == 23.9
    assert Cell(page, "none", "w1", below="# Two").value() == 0.0083
    assert Cell(page, "none", "w1", part="least").value() == 0.007
    with pytest.raises(LookupError, match=r"no table with 'none' and 'rate' below '# Two'"):
        Cell(page, "none", "rate", below="# Two").value()


def test_a_ratio_is_held_as_the_page_rounds_it(page):
    rate = Cell(page, "none", "rate")
    assert Bound(rate, rate, 1, 1).holds()
    assert not Bound(rate, None, 1.07, 2).holds()


def test_a_quantity_that_is_not_listed_is_found(page):
    (docs_words.DOCS / page).write_text("# 4 s\n\nIt is 3 s, [not](a-5 s)\n5 s.\n\n    6 s\n\n![7 s](p)\n")
    (found,) = unlisted(page, ["not](a-5 s) 5 s"])
    assert "It is 3 s," in found
