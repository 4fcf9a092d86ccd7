"""Only texts and numbers get into a page."""

from itertools import count
from secrets import token_hex

import pytest
from support.pages import slips, words

from wblab.report.page import render


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Return a function that fills in a template of a package of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    numbers = count()

    def filled(template, **values):
        package = f"pages_{token_hex(4)}_{next(numbers)}"
        (tmp_path / package / "templates").mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "templates/it").write_text(template)
        return render(package, "it", **values)

    return filled


@pytest.mark.parametrize("slip", [{}.values, object(), None, len], ids=["a method", "an object", "None", "a function"])
def test_a_slip_of_its_maker_raises(page, slip):
    with pytest.raises(TypeError, match="a page would show"):
        page("{{ it }}", it=slip)


def test_texts_and_numbers_are_shown(page):
    assert page("{{ one }} {{ two }}{{ ' three' if one == 1 }}", one=1, two="<b>") == "1 &lt;b&gt; three"


def test_the_field_of_a_table_is_not_its_method(page):
    assert page('{{ row["values"] }}', row={"values": "1.5"}) == "1.5"
    with pytest.raises(TypeError, match="built-in method values"):
        page("{{ row.values }}", row={"values": "1.5"})


@pytest.mark.parametrize(
    "slip", ["<td>nan</td>", "<b>None s</b>", "<p title='{{ it }}'>a</p>", "&lt;built-in method x"]
)
def test_a_slip_in_a_page_is_seen(slip):
    assert slips(words(f"<html><style>a{{}}</style><script>x = {{{{None}}}}</script>{slip}</html>"))


def test_words_that_only_look_like_one_are_none():
    assert not slips(["a nanosecond", "none", "load-None.txt", "finance", "disk={a={size=1}}"])
    assert not slips(words("<script>NaN</script><p>1.5 s</p>"))
