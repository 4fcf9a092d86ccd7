"""The lab's pages of prose: their contents, links, code and search."""

import asyncio

import pytest
from PIL import Image
from support.browser import browser

from wblab.core.errors import InputError
from wblab.publish.site.page import File
from wblab.publish.site.prose import prose, read_contents
from wblab.publish.site.readback import dead_links

INDEX = """# The lab

Read on.

## How to

Each page answers one question.

- [Run](how-to/run.md)

## Reference

- [Words, `all`](reference/words.md)
"""
RUN = "# Run `it`\n\nSee [words](../reference/words.md#a-word).\n\n    make run  # in a minute\n"


@pytest.fixture
def docs(tmp_path):
    for name, text in {"index.md": INDEX, "how-to/run.md": RUN, "reference/words.md": "# Words\n\n## A word\n"}.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "docs"


def made(docs) -> tuple[dict[str, str], list[str]]:
    """Return the texts of the pages, and what is wrong with them."""
    troubles: list[str] = []
    files = [file for file in prose(read_contents(docs), {}, docs, troubles.append) if file.address.endswith(".html")]
    beside = ("index", "runs/index", "studies/index", "lessons/index", "findings/index", "explanation/how-it-works")
    beside += ("findings/results-of-claims", "findings/results-of-folk-wisdom", "findings/atlas", "search", "open")
    beside += ("cite", "reference/spec", "explore")
    others = [File(f"{address}.html", b"") for address in beside]
    assets = [File(f"assets/{name}", b"") for name in ("site.css", "site.js")]
    troubles += dead_links([*files, *others, *assets])
    return {file.address: file.content.decode() for file in files}, troubles


def told(docs, name: str, text: str) -> list[str]:
    (docs / name).write_text(text)
    return made(docs)[1]


def test_the_contents_are_the_lists_of_the_first_page(docs):
    sections = read_contents(docs)
    assert [(one.title, one.about, one.address) for one in sections] == [
        ("How to", "Each page answers one question.", "how-to/index.html"),
        ("Reference", "", "reference/index.html"),
    ]
    assert [(link.text, link.address) for link in sections[1].pages] == [
        ("Words, all", "reference/words.html"),
        ("Specs: all keys, units and defaults", "reference/spec.html"),
    ]


def test_pages_without_contents_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match="install the lab again, or use a checkout"):
        read_contents(tmp_path)


def test_sound_pages_have_nothing_wrong(docs):
    pages, troubles = made(docs)
    assert troubles == []
    assert set(pages) == {"how-to/run.html", "reference/words.html", "how-to/index.html", "reference/index.html"}


def test_a_page_is_marked_in_the_contents_with_its_headings(docs):
    text = made(docs)[0]["reference/words.html"]
    here = text[text.index('aria-current="page">Words, all</a>') :]
    assert '<a href="#a-word">A word</a>' in here.partition("</details>")[0]


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("[x](missing.md)", "how-to/run.html: the link missing.md leads nowhere"),
        ("[x](../../missing.py)", "how-to/run.html: the link ../../missing.py leads nowhere"),
        ("[x](#missing)", "how-to/run.html: the link #missing leads nowhere"),
        ("[x](../reference/words.md#b)", "how-to/run.html: the link ../reference/words.html#b leads nowhere"),
        ('<a href="#missing">x</a>', "how-to/run.html: the link #missing leads nowhere"),
        ("![x](missing.png)", "how-to/run.html: the link ../assets/missing.png leads nowhere"),
        ("```nonsense\nx\n```", "how-to/run.html: there is no language 'nonsense' for code"),
    ],
)
def test_what_is_wrong_with_a_page_is_told(docs, text, trouble):
    assert told(docs, "how-to/run.md", f"# Run\n\n{text}\n") == [trouble]


def test_a_page_that_no_list_has_is_told(docs):
    assert told(docs, "how-to/more.md", "# More\n") == ["how-to/more.md: no list of index.md has this page"]


def test_a_page_that_is_listed_and_missing_is_told(docs):
    (docs / "how-to/run.md").unlink()
    assert made(docs)[1][0] == "index.md: there is no how-to/run.md"


def test_of_a_link_to_what_is_no_page_the_words_stay(docs):
    assert told(docs, "how-to/run.md", "# Run\n\nIn [a module](../../tool.py).\n") != []
    (docs.parent / "tool.py").touch()
    pages, troubles = made(docs)
    assert troubles == []
    assert "<p>In a module.</p>" in pages["how-to/run.html"]


def test_a_long_table_is_folded_once(docs):
    table = "| a |\n|---|\n" + "| 1 |\n" * 30
    (docs / "how-to/run.md").write_text(f"# Run\n\n{table}\n<details>\n<summary>All</summary>\n\n{table}\n</details>\n")
    body = made(docs)[0]["how-to/run.html"].partition("<h1")[2]
    assert [one.partition("</summary>")[0] for one in body.split("<summary>")[1:3]] == ["30 rows: a", "All"]
    assert body.count(" rows: a") == 1


@pytest.mark.parametrize(
    ("code", "coloured"),
    [
        ("wblab run base  # once", '<span class="c1"># once</span>'),
        ("disk.write_bps = '1MiB/s'", '<span class="s1">'),
        ("import wblab", '<span class="kn">import</span>'),
        ("for 4 of 10 in w1, 2 MiB", ""),
        ("wblab", ""),
        ("<b>", ""),
    ],
)
def test_code_is_coloured_by_what_it_is(docs, code, coloured):
    (docs / "how-to/run.md").write_text(f"# Run\n\n    {code}\n")
    block = made(docs)[0]["how-to/run.html"].partition("<code>")[2].partition("</code>")[0]
    assert coloured in block
    assert bool(coloured) == ("<span" in block)
    assert "<b>" not in block


def test_the_search_finds_a_section_by_its_words(site):
    async def found():
        async with browser(f"{(site / 'search.html').as_uri()}#writeback%20control%20load") as page:
            await page.until("question.dataset.ready === 'yes'")
            first = await page.value("list.querySelector('a').getAttribute('href')")
            await page.value("question.value = '<b>nowhere'; question.dispatchEvent(new Event('input')); 0")
            none = await page.value("said.textContent")
            await page.value("question.value = '5 s'; question.dispatchEvent(new Event('input')); 0")
            marks = await page.value("[...new Set([...list.querySelectorAll('mark')].map((one) => one.textContent))]")
            return page.troubles, first, none, marks, await page.value("location.hash")

    troubles, first, none, marks, address = asyncio.run(found())
    assert troubles == []
    path, _, anchor = first.partition("#")
    assert f'id="{anchor}"' in (site / path).read_text()
    assert none == "0 sections"
    assert {mark.lower() for mark in marks} == {"5", "s"}
    assert address == "#5%20s"


@pytest.mark.parametrize(("width", "is_wide"), [(1200, False), (1980, True)])
def test_a_wide_picture_is_scrolled_by_itself(docs, width, is_wide):
    Image.new("1", (width, 2)).save(docs / "how-to/a.png")
    (docs / "how-to/run.md").write_text("# Run\n\n![what one sees](a.png)\n")
    text = made(docs)[0]["how-to/run.html"]
    assert ('<figure class="wide" tabindex="0"><img' in text) == is_wide
    assert (f"min-width: {width // 2}px" in text) == is_wide
