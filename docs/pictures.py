"""The pictures of README, findings and lessons, made of runs: `make pictures`, or `python docs/pictures.py [NAME ...]`.

docs/pictures.toml lists what each shows. In virtual time runs are the same to the bit, and so is the picture. What one
sees on it, in words, is in the picture's file too, and is written into each page that shows it.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from picturekinds import bars, curve, places
from PIL import Image, PngImagePlugin

import wblab
from wblab.analysis.runs.heat import heat_of_runs
from wblab.analysis.runs.lanes import Lanes, lanes_of
from wblab.analysis.runs.run import Run, read_run
from wblab.api.making import asked
from wblab.core.spec import Spec
from wblab.kernels import built_kernels
from wblab.lab.places import FINDINGS, LESSONS, RESULTS
from wblab.lessons.lesson import REFERENCE, find
from wblab.lessons.lesson import lessons as all_lessons
from wblab.lessons.page import PICTURE, PICTURE_WORDS, READER
from wblab.lessons.proof import changed_table
from wblab.lessons.runs import made
from wblab.lessons.runs import spec as lesson_spec
from wblab.plot.heatpanes import heat_picture
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import picture
from wblab.plot.timeline import chosen
from wblab.report.lanestext import in_words

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LIST = DOCS / "pictures.toml"
WORDS = "Description"  # the field of a PNG file that says what one sees
_COLOURS = 64
_PAGES = ("README.md", "docs/*.md", "docs/*/*.md", "experiments/findings/*/page.md")
Listed = Mapping[str, Any]


def listed() -> dict[str, Listed]:
    """Return what each picture shows, by its name."""
    return tomllib.loads(LIST.read_text())


def file_of(name: str, given: Listed) -> Path:
    """Return the file of a picture."""
    return LESSONS / given["lesson"] / PICTURE if "lesson" in given else ROOT / "misc" / f"{name}.png"


def draw(name: str, given: Listed) -> Path:
    """Draw a picture, write its words where it is shown, and return its file. Runs that are there already are read."""
    figure, words = _drawn(name, given)
    stream = BytesIO()
    figure.savefig(stream, format="png")
    return _shown(name, given, stream, words)


def _shown(name: str, given: Listed, source: BytesIO | Path, words: str) -> Path:
    """Write a picture and its words where it is shown, and return its file."""
    file = file_of(name, given)
    _write(source, file, words)
    if "lesson" in given:
        file.with_name(PICTURE_WORDS).write_text(f"{words}.\n")
    for page in pages():
        text = page.read_text()
        if (new := shown(name).sub(lambda found: f"![{words}]({found[2]})", text)) != text:
            page.write_text(new)
    return file


def pages() -> Iterator[Path]:
    """Yield the pages that may show pictures."""
    for pattern in _PAGES:
        yield from sorted(ROOT.glob(pattern))


def shown(name: str) -> re.Pattern[str]:
    """Return what finds a picture on a page: its words, and its address."""
    return re.compile(rf"!\[([^\]]*)\]\(((?:\.\./)*misc/{name}\.png)\)")


def _write(source: BytesIO | Path, file: Path, words: str) -> None:
    """Write a picture with few colours, which makes its file a third."""
    drawn = Image.open(source).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    about = PngImagePlugin.PngInfo()
    about.add_text(WORDS, words)
    drawn.save(file, "PNG", optimize=True, pnginfo=about)


def _drawn(name: str, given: Listed) -> tuple[Any, str]:
    """Return a picture's figure, and what one sees on it."""
    if "finding" in given:
        return curve(FINDINGS / given["finding"], given)
    if "bars" in given:
        return bars(given)
    if "heat" in given:
        seeds = range(1, given["seeds"] + 1)
        many = {each["title"]: [_run(name, given, {**each, "seed": seed}) for seed in seeds] for each in given["run"]}
        return heat_picture(heat_of_runs(many, given["heat"])), given["words"]
    runs = [(_run(name, given, each), each["title"]) for each in given["run"]]
    if given.get("shows") == "places":
        return places(runs)
    if "panes" in given:
        ((run, title),) = runs
        panes = chosen(wblab.Run.of(run.path).panes(None), given["panes"])
        return picture(replace(panes, title=title)), given["words"]
    found = [_chosen(lanes_of(run, title), given.get("loads", ())) for run, title in runs]
    return lanes_picture(found, given.get("card", "")), in_words(found)


def _chosen(lanes: Lanes, names: Sequence[str]) -> Lanes:
    return replace(lanes, lanes=tuple(one for one in lanes.lanes if one.name in names)) if names else lanes


def _run(name: str, given: Listed, each: Listed) -> Run:
    if "lesson" in given:
        return made(_of_lesson(given["lesson"], each), RESULTS / "lessons", built_kernels())
    spec = asked(
        each["spec"],
        each.get("set", []),
        seed=each.get("seed"),
        kernel=each.get("kernel", ""),
        name=f"picture-{name}",
    )
    return read_run(wblab.run(spec, kernel=each.get("kernel", ""), reuse=True).path)


def _of_lesson(name: str, each: Listed) -> Spec:
    """Return the spec of a reader's run, with a change of the reference answers, or other keys and another seed."""
    lesson = find(name, all_lessons())
    keys = READER.table(lesson, REFERENCE)[each["change"]] if "change" in each else {}
    wanted = lesson_spec(lesson, READER, changed_table(lesson, READER, keys | each.get("set", {})))
    return replace(wanted, seed=wanted.seed + each.get("further_seed", 0))


def main() -> None:
    """Draw the pictures that are named, or all."""
    known = listed()
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which (default: all): {', '.join(known)}")
    parser.add_argument("--of", type=Path, metavar="FILE", help="the picture that a study drew, for one NAME")
    arguments = parser.parse_args()
    names: list[str] = arguments.names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no picture {unknown[0]!r}: {LIST.name} has {', '.join(known)}")
    if arguments.of:
        if len(names) != 1 or "study" not in known[names[0]]:
            parser.error(f"--of takes one of: {', '.join(name for name, given in known.items() if 'study' in given)}")
        print(_shown(names[0], known[names[0]], arguments.of, known[names[0]]["words"]))
        return
    if of_study := [name for name in names if "study" in known[name]]:
        wanted = known[of_study[0]]["study"]
        parser.error(f"{of_study[0]} is drawn by 'wblab study {wanted}': hand its picture over with --of FILE")
    for name in names or [name for name, given in known.items() if "study" not in given]:
        print(draw(name, known[name]))


if __name__ == "__main__":
    main()
