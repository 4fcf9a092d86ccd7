"""A whole site: what its pages link and load, how large they are, and what a stranger's text becomes on them."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from support.browser import browser
from support.madesites import HOSTILE, NO_KERNEL, study_in
from support.pages import slips, words
from support.sites import copied_lines, dead_links, large_pages, pages, requests_outside

from wblab.core.errors import InputError
from wblab.lab.progress import silent
from wblab.lab.specfile import read_spec
from wblab.publish.site.build import RESULTS, SiteContent, files, opened
from wblab.publish.site.page import EXPLORE, File, placed_at
from wblab.publish.site.studypages import Most, StudyPage, study_files
from wblab.study.cells import run_name
from wblab.study.designs.audit.report import read_record
from wblab.study.rowfile import RunRow
from wblab.study.store import Store

# One page of each kind.
KINDS = (
    "index.html",
    "explore.html",
    "runs/index.html",
    "runs/odd/index.html",
    "runs/odd/timeline.html",
    "studies/hostile/index.html",
    "studies/hostile/0-cell/index.html",
    "reference/spec.html",
    "findings/atlas.html",
    "how-to/run.html",
    "search.html",
    "lessons/02-lock-up.html",
)
# Cells of tables that would be so narrow that a word breaks.
BREAKING = """[...document.querySelectorAll("td, td *")]
  .filter((each) => getComputedStyle(each).overflowWrap === "anywhere")
  .map((each) => each.outerHTML.slice(0, 99))"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def made(store, pages=2):
    return {file.address: file for file in files(SiteContent((), [store], pages), store.parent, NO_KERNEL, silent)}


def test_every_link_leads_somewhere(site):
    assert dead_links(site) == []


def test_nothing_is_loaded_from_elsewhere(site):
    assert requests_outside(site) == []


def test_no_page_is_large(site):
    assert large_pages(site) == []


def test_every_page_forbids_scripts_of_others_and_has_none_within(site):
    for address, page in pages(site).items():
        assert "default-src 'none'" in page.policy, address
        if address == EXPLORE:  # stands alone: its own script is within, by its digest
            continue
        assert "script-src 'self'" in page.policy, address
        assert page.inline == [], address


def test_every_page_has_one_title_and_one_main_part_and_words_for_pictures(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert [len(re.findall(rf"<{tag}\b", text)) for tag in ("h1", "main")] == [1, 1], page
        assert re.findall(r"<img(?![^>]* alt=)[^>]*>", text) == [], page


def test_every_page_names_the_picture_that_others_show_of_it(site):
    for address, page in ((one.relative_to(site), one.read_text()) for one in site.rglob("*.html")):
        if address.name != "timeline.html":
            (card,) = re.findall('property="og:image" content="([^"]*)"', page)
            assert (site / address.parent / card).resolve() == (site / "assets/card.png").resolve()
    assert (site / "assets/card.png").is_file()


def test_with_the_site_s_address_the_picture_has_a_whole_one():
    page = File("a/b/x.html", b'<meta property="og:image" content="../../assets/card.png">')
    found = [each.content for each in placed_at([page, replace(page, address="x.js")], "https://x.example/lab/")]
    assert found == [b'<meta property="og:image" content="https://x.example/lab/assets/card.png">', page.content]
    assert list(placed_at([page], "")) == [page]


def test_a_stranger_s_text_is_shown_as_text(site):
    for page in [*site.rglob("studies/**/*.html"), *site.rglob("runs/**/*.html")]:
        assert "<script>alert" not in page.read_text(), page
        assert "<img src=x" not in page.read_text(), page
    text = (site / "studies/hostile/1-cell/index.html").read_text()
    assert HOSTILE in words(text)


def test_pages_of_results_leak_no_internals(site):
    for page in [*site.rglob("studies/**/*.html"), *site.rglob("runs/**/*.html"), site / "reference/spec.html"]:
        assert slips(words(page.read_text())) == [], page


def test_every_run_has_a_line_and_what_the_line_reads(site):
    lines = copied_lines(site)
    assert "wblab repeat studies/hostile/1-cell/seed-2/repeat.json" in lines
    assert len(lines) == 5
    for line in lines:
        record = read_record(site / line.removeprefix("wblab repeat "))
        assert len(record.digest) == 64


def test_the_first_page_has_figures_of_the_pages_that_it_links(site):
    for one in RESULTS:
        address, _, anchor = one.address.partition("#")
        linked = (site / address).read_text().replace("\xa0", " ")
        part = linked.partition(f'id="{anchor}"' if anchor else "<article>")[2].partition(
            "<h2" if anchor else "</article>"
        )[0]
        figures = re.findall(r"\d+\.\d+(?: ms)?", f"{one.figures} {one.about}")
        assert [figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", part)] == []


def test_the_lessons_begin_with_the_page_to_play_with(site):
    listed = (site / "lessons/index.html").read_text()
    assert re.findall(r'<li><a href="([^"]*)">(\d+)\.', listed)[:2] == [
        ("../explore.html", "0"),
        ("01-page-cache.html", "1"),
    ]


def test_loads_stay_in_order_which_decides_a_run(study, site):
    loads = list(study.plan.cells[0].spec.load)
    assert loads != sorted(loads)
    folder = site / "studies/hostile/0-cell/seed-1"
    assert list(read_record(folder / "repeat.json").spec.load) == loads
    assert list(read_spec(folder / "spec.toml").load) == loads


def test_each_run_has_an_address_and_only_some_have_pictures(site):
    page = pages(site)["studies/hostile/0-cell/index.html"]
    assert {"seed-1", "seed-2"} <= page.anchors
    pictures = sorted(path.relative_to(site).as_posix() for path in site.rglob("studies/**/lanes.svg"))
    assert pictures == [f"studies/hostile/{cell}/seed-1/lanes.svg" for cell in ("0-cell", "1-cell")]


def test_the_same_runs_give_the_same_bytes(site, tmp_path):
    for address, file in made(study_in(tmp_path / "2026-03-04_elsewhere").path).items():
        if not address.startswith("runs/"):  # the gallery of the fixture has a run
            assert (site / address).read_bytes() == file.content, address


def test_nothing_of_the_machine_appears(study, site):
    for path in [*site.glob("studies/**/*"), *site.glob("runs/**/*")]:
        if path.is_file():
            assert str(study.path.parent).encode() not in path.read_bytes(), path
            assert b"2026-01-02" not in path.read_bytes(), path


def test_two_studies_of_one_name_have_two_addresses(study, tmp_path):
    other = study_in(tmp_path / "other")
    assert [one.folder for one in opened([study.path, other.path])] == ["studies/hostile", "studies/hostile-2"]


def test_a_study_with_a_hostile_name_is_refused(tmp_path):
    store = study_in(tmp_path / "study")
    path = store.path / "study.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"name": "../../x"}))
    with pytest.raises(InputError, match="not a valid name"):
        opened([store.path])


@pytest.mark.parametrize("address", KINDS)
def test_a_browser_opens_it_from_a_directory(site, address):
    async def opened():
        async with browser((site / address).as_uri()) as page:
            if address.endswith("timeline.html"):
                await page.until("document.getElementById('timeline').dataset.drawn === 'yes'")
            loaded = await page.value("performance.getEntriesByType('resource').map((entry) => entry.name)")
            wide = await page.value(TOO_WIDE)
            await page.call(
                "Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True
            )
            wide = max(wide, await page.value(TOO_WIDE))
            outside = [name for name in loaded if not name.startswith(("file:", "data:", "blob:"))]
            return page.troubles, outside, wide, await page.value(BREAKING)

    troubles, outside, too_wide, breaking = asyncio.run(opened())
    assert troubles == []
    assert outside == []
    assert too_wide <= 0
    assert breaking == []


MADE_WITH = {"kernel builds": "b" * 64, "processors": "some"}


@pytest.fixture
def rows(study, tmp_path):
    """A study that has rows in place of run directories."""
    plan = replace(study.plan, keep="digests", name="rows")
    (tmp_path / "rows").mkdir()
    store = Store.begin(tmp_path / "rows", plan, study.kernels)
    for cell, seed in plan.runs():
        metrics = [("w1", "write", "longest_pause_s", seed / 2), ("l1", "load", "longest_pause_s", 9.0)]
        store.rows.add(RunRow(cell.name, seed, f"{seed:064}", "b" * 64, "some", MADE_WITH, 1.0, metrics))
    return Store.open(store.path)


def found(store, pages=2, **most):
    files = study_files(StudyPage(store, "studies/x"), pages, silent, Most(**most))
    return {file.address: file.content.decode() for file in files}


def test_rows_stand_for_runs(rows, tmp_path):
    made = found(rows)
    cell = made["studies/x/0-cell/index.html"]
    assert "Seed 2: 1 s</h3>" in cell
    assert f"{2:064}" in cell
    assert "timeline and causes" not in cell
    (tmp_path / "repeat.json").write_text(made["studies/x/0-cell/seed-2/repeat.json"])
    record = read_record(tmp_path / "repeat.json")
    assert (record.spec.seed, record.digest, record.made_with) == (2, f"{2:064}", MADE_WITH)


def test_a_large_study_has_files_for_the_first_seeds_only(rows):
    made = found(rows, pages=0, cells=1, records=2)
    files = [address for address in made if address.endswith("repeat.json")]
    assert files == ["studies/x/0-cell/seed-1/repeat.json", "studies/x/1-cell/seed-1/repeat.json"]
    assert made["studies/x/0-cell/index.html"].count("data-line") == 1
    assert "0-cell" in made["studies/x/index.html"]
    assert "1-cell/index.html" in made["studies/x/cells-2.html"]
    assert "1-cell/index.html" not in made["studies/x/index.html"]


def test_a_study_without_runs_says_so(study, tmp_path):
    (tmp_path / "none").mkdir()
    store = Store.begin(tmp_path / "none", study.plan, study.kernels)
    made = found(store)
    assert "No run of this cell succeeded." in made["studies/x/0-cell/index.html"]
    assert "2 cells, 0 of up to 4 runs." in made["studies/x/index.html"]
    assert str(tmp_path) not in made["studies/x/index.html"]
    assert run_name(study.plan.cells[0], 1) not in made
