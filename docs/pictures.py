"""The pictures of README and of findings, made of runs: `make pictures`, or `python docs/pictures.py [NAME ...]`.

docs/pictures.toml lists the runs of each. In virtual time they are the same to the bit, and so is the picture.
"""

import argparse
import tomllib
from pathlib import Path
from typing import Any

import wblab
from wblab.analysis.runs.lanes import lanes_of
from wblab.api.making import asked
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import save

DOCS = Path(__file__).resolve().parent
LIST = DOCS / "pictures.toml"


def draw(name: str, runs: list[dict[str, Any]]) -> Path:
    """Make the runs of a picture that are not there yet, draw them below each other, and return the file."""
    found = []
    for run in runs:
        kernel = run.get("kernel", "")
        spec = asked(run["spec"], run.get("set", []), kernel=kernel, name=f"picture-{name}")
        found.append(lanes_of(wblab.run(spec, kernel=kernel, reuse=True), run["title"]))
    output = DOCS.parent / "misc" / f"{name}.png"
    save(lanes_picture(found), name, output)
    return output


def main() -> None:
    """Draw the pictures that are named, or all."""
    known = tomllib.loads(LIST.read_text())
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which (default: all): {', '.join(known)}")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no picture {unknown[0]!r}: docs/pictures.toml has {', '.join(known)}")
    for name in names or known:
        print(draw(name, known[name]["run"]))


if __name__ == "__main__":
    main()
