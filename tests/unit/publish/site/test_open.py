"""The page that reads bundles, in a browser: what it shows, and that it refuses what the lab refuses."""

import asyncio
import json
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from random import Random

import pytest
from support.browser import Browser, browser
from support.forge import pieces_of, sealed, spelt, structures, written
from support.madesites import HOSTILE
from support.originals import guest_run, rows

from wblab.publish.bundle.archive import read_content, read_entries
from wblab.publish.bundle.pack import pack

READ = """
answer = undefined;
readBundle(new Blob([Uint8Array.from(atob("{bundle}"), (letter) => letter.charCodeAt(0))]), () => {{}})
  .then(async (bundle) => {{ for (const run of bundle.about.runs) await readLoads(bundle, run); }})
  .then(() => "sound", (error) => error instanceof Unsound ? error.message : `${{error}}`)
  .then((text) => {{ answer = text; }})
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The file of a run."""
    room = tmp_path_factory.mktemp("packed")
    guest_run(room / "2026-01-01_base")
    pack(room / "2026-01-01_base", room / "run.wblab")
    return room / "run.wblab"


def in_browser(site, steps):
    """Open the page and return what `steps` gives for it; whatever the file, no script fails."""

    async def opened():
        async with browser((site / "open.html").as_uri()) as page:
            found = await steps(page)
            assert page.troubles == []
            return found

    return asyncio.run(opened())


async def choose(page: Browser, path) -> str:
    """Choose a file as a user does, and return the text that is shown."""
    document = await page.call("DOM.getDocument")
    node = await page.call("DOM.querySelector", nodeId=document["root"]["nodeId"], selector="#file")
    await page.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node["nodeId"])
    await page.until("found.dataset.shown === 'yes'")
    return await page.value("found.innerText")


async def read(page: Browser, bundle: bytes) -> str:
    """Return "sound", or the reason for which the page refuses a bundle."""
    await page.value(READ.format(bundle=b64encode(bundle).decode()) + "; 0")
    await page.until("answer !== undefined")
    return await page.value("answer")


def is_whole(bundle: bytes) -> bool:
    """Whether the lab's own reader takes the archive, and its files have the digests that it lists."""
    stream, packed = BytesIO(bundle), sha256()
    try:
        first, *rest = read_entries(stream)
        about = json.loads(b"".join(read_content(stream, first, None)))
        found = [(each.name, each.size, sha256(b"".join(read_content(stream, each, packed)))) for each in rest]
    except ValueError:
        return False
    listed = [(item["name"], item["size"], item["sha256"]) for item in about["files"]]
    return listed == [(name, size, digest.hexdigest()) for name, size, digest in found] and (
        about["packed_sha256"] == packed.hexdigest()
    )


def test_it_shows_a_run(site, packed):
    text = in_browser(site, lambda page: choose(page, packed))
    assert "Mail mw1 was stalled once, for 1.40 s; editor w1 had no pause over 300 ms." in text
    assert "mw1: frozen for" not in text  # as the bar's title only
    assert sha256(packed.read_bytes()).hexdigest() in text


def test_it_draws_a_bar_for_each_pause(site, packed):
    async def bars(page):
        await choose(page, packed)
        return await page.value("[...document.querySelectorAll('.lane .frozen')].map((bar) => bar.title)")

    assert in_browser(site, bars) == ["mail mw1: frozen for 1.40 s, from 0.2 s"]


def test_a_study_s_runs_are_chosen_and_a_stranger_s_text_stays_text(study, site, tmp_path):
    pack(study.path, tmp_path / "study.wblab")

    async def chosen(page):
        listed = await choose(page, tmp_path / "study.wblab")
        await page.value("document.querySelector('#found button').click()")
        await page.until("document.querySelector('#found .lane') !== null")
        return listed, await page.value("found.innerText")

    listed, run = in_browser(site, chosen)
    assert "A study of 4 runs" in listed
    assert "1-cell-s2" in listed
    assert HOSTILE in run


def test_a_study_of_rows_says_what_reads_them(site, tmp_path):
    rows(tmp_path / "m")
    pack(tmp_path / "m", tmp_path / "rows.wblab")
    text = in_browser(site, lambda page: choose(page, tmp_path / "rows.wblab"))
    assert "a row of each of its 4 runs" in text
    assert "Consistent" not in text


def test_what_is_no_bundle_is_refused_in_words(site, tmp_path):
    (tmp_path / "x.wblab").write_text("hello")
    text = in_browser(site, lambda page: choose(page, tmp_path / "x.wblab"))
    assert text.startswith("This is not a sound bundle: it does not end as a bundle does")


def attacks(sound: bytes) -> list[bytes]:
    """Return bundles with another form, and with other bytes."""
    pieces = pieces_of(sound)
    found = [attack(pieces) for attack in structures(Random(1))]
    for seed in range(20):
        random, changed = Random(seed), bytearray(sound)
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        found.append(bytes(changed))
    return [each for each in found if len(each) < len(sound) + (1 << 20)]


def test_it_refuses_what_the_lab_refuses(site, packed):
    sound = packed.read_bytes()

    async def verdicts(page):
        assert await read(page, sound) == "sound"
        return [(is_whole(each), await read(page, each)) for each in attacks(sound)]

    found = in_browser(site, verdicts)
    assert sum(not whole for whole, _ in found) > 40
    for whole, says in found:
        assert (says == "sound") <= whole, says
        assert says != "sound" or whole
        assert not says.startswith(("TypeError", "RangeError", "ReferenceError")), says


def told_as(packed, change) -> bytes:
    """Return a whole bundle whose description was changed by a function."""
    about, *rest = pieces_of(packed.read_bytes())
    told = json.loads(about.content)
    change(told)
    return written([replace(about, content=spelt(told)), *rest])


def test_figures_that_do_not_follow_from_the_times_are_refused(site, packed):
    def one_more(told, key):
        (row,) = (row for row in told["runs"][0]["pauses"] if row["load"] == "mw1")
        row[key] += 1

    keys = ("cycles", "longest_pause_ns", "paused_ns", "pauses_over_bound")

    async def verdicts(page):
        return {await read(page, told_as(packed, lambda told, key=key: one_more(told, key))) for key in keys}

    assert in_browser(site, verdicts) == {"the times of mw1 are not those of its figures"}


def test_times_that_go_back_are_refused(site, packed):
    pieces = [
        replace(piece, content=piece.content[:-8] + bytes(8)) if piece.name == b"load.mw1.npy" else piece
        for piece in pieces_of(packed.read_bytes())
    ]
    says = in_browser(site, lambda page: read(page, written(sealed(pieces))))
    assert says == "its load.mw1.npy has times that go back"


def test_a_description_of_other_types_is_refused(site, packed):
    keys = ("runs", "files", "kind", "format", "bound_ns", "packed_sha256")
    values = (None, 7, "x", [], {}, [1], [{}], -1, 0.5, True)
    changes = [(key, value) for key in keys for value in values if (key, value) != ("bound_ns", 7)]

    async def verdicts(page):
        return [await read(page, told_as(packed, lambda told, one=one: told.update([one]))) for one in changes]

    for says in in_browser(site, verdicts):
        assert says.startswith("its bundle.json "), says
