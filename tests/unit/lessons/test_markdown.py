"""Markdown of a stranger: shown as text where it would act, and no more."""

import pytest

from wblab.lessons.markdown import code_lines, code_spans, for_jupyter, to_html, tokens


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "![x](https://example.org/x.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,hm)",
        "<!-- hidden -->",
        '`<b onclick="x">`',
        "# <i>title</i>",
        "    <b>code</b>",
        "| <b>a</b> |\n|---|\n| <i>b</i> |",
    ],
)
def test_html_is_text_and_nothing_is_fetched(text):
    html = to_html(text)
    for tag in ("<script", "<img", "<b", "<i>", "<!--", 'href="javascript', 'href="data'):
        assert tag not in html.replace("<br", "")


def test_headings_can_stand_lower():
    assert "<h3>A</h3>" in to_html("# A", lower=2)
    assert "<h6>A</h6>" in to_html("##### A", lower=4)


@pytest.mark.parametrize("text", ["    wide", "```sh\nwide\n```"])
def test_code_can_be_scrolled_with_keys(text):
    assert to_html(text) == '<pre tabindex="0"><code>wide\n</code></pre>\n'


def test_code_is_found():
    found = tokens("Fill in `who` and `a b`.\n\n    wblab why\n    wblab why --pauses\n\n```\n`no`\n```\n")
    assert list(code_spans(found)) == ["who", "a b"]
    assert list(code_lines(found)) == ["wblab why", "wblab why --pauses", "`no`"]


@pytest.mark.parametrize(
    "text",
    [
        "a ` ![x](https://example.org/x.png)",
        "a `` ![x](https://example.org/x.png) ` b",
        "a ` b\n` ![x](https://example.org/x.png) `",
        "`a`` ![x](https://example.org/x.png) ``` b",
        "\\` ![x](https://example.org/x.png) `",
        "> a `\n> ![x](https://example.org/x.png)",
    ],
)
def test_a_backquote_without_its_fellow_hides_no_picture(text):
    assert "![" not in for_jupyter(text)


def test_code_in_backquotes_stays_as_it_is():
    for text in ("`<$a>`", "`` ` <b> ``", "a `<b>` and `$c`", "`a`\n`<b>`"):
        assert for_jupyter(text) == text
    assert for_jupyter("a ` <b>\n\n`<c>`") == "a ` &lt;b>\n\n`<c>`"


def test_jupyter_shows_no_formula_html_or_picture():
    text = "a $1 and $2 <b> `<$x>` ![y](z) &lt;\n\n    $HOME <code>\n"
    assert for_jupyter(text) == "a \\$1 and \\$2 &lt;b> `<$x>` !\\[y](z) &amp;lt;\n\n    $HOME <code>\n"
