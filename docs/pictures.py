"""The pictures of README and of findings, made of runs: `make pictures`, or `python docs/pictures.py [NAME ...]`.

docs/pictures.toml lists the runs of each. In virtual time they are the same to the bit, and so is the picture.
"""

import argparse
import tomllib
from pathlib import Path
from typing import Any

import wblab
from wblab.analysis.runs.heat import heat_of_runs
from wblab.analysis.runs.lanes import lanes_of
from wblab.api.making import asked
from wblab.plot.heatpanes import heat_picture
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import save

DOCS = Path(__file__).resolve().parent
LIST = DOCS / "pictures.toml"


def draw(name: str, listed: dict[str, Any]) -> Path:
    """Make the runs of a picture that are not there yet, draw them below each other, and return the file."""
    seeds = range(1, listed["seeds"] + 1) if "seeds" in listed else (None,)
    found = {run["title"]: [_made(name, run, seed) for seed in seeds] for run in listed["run"]}
    output = DOCS.parent / "misc" / f"{name}.png"
    if "heat" in listed:
        picture = heat_picture(heat_of_runs(found, listed["heat"]))
    else:
        picture = lanes_picture([lanes_of(runs[0], title) for title, runs in found.items()])
    save(picture, name, output)
    return output


def _made(name: str, run: dict[str, Any], seed: int | None) -> wblab.Run:
    kernel, settings = run.get("kernel", ""), run.get("set", [])
    spec = asked(
        run["spec"], settings if seed is None else [*settings, f"seed={seed}"], kernel=kernel, name=f"picture-{name}"
    )
    return wblab.run(spec, kernel=kernel, reuse=True)


def main() -> None:
    """Draw the pictures that are named, or all."""
    known = tomllib.loads(LIST.read_text())
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which (default: all): {', '.join(known)}")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no picture {unknown[0]!r}: docs/pictures.toml has {', '.join(known)}")
    for name in names or known:
        print(draw(name, known[name]))


if __name__ == "__main__":
    main()
