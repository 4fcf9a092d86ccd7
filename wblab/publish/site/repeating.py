"""What repeats a run of the site: a file, and the line that reads it."""

import json

from wblab.lab.spectoml import spec_toml
from wblab.publish.site.page import File
from wblab.study.designs.repeat.record import Record

REPEAT, SPEC_FILE = "repeat.json", "spec.toml"


def record_file(folder: str, record: Record) -> File:
    """Return what repeats a run."""
    return File(f"{folder}/{REPEAT}", (json.dumps(record.to_json(), indent=1) + "\n").encode())


def spec_file(folder: str, record: Record) -> File:
    """Return the spec of a run as TOML."""
    return File(f"{folder}/{SPEC_FILE}", spec_toml(record.spec).encode())


def line(folder: str, record: Record) -> str:
    """Return the command that repeats a run, from the site's directory."""
    kernel = " --kernel PATH" if record.needs_kernel else ""
    return f"wblab repeat {folder}/{REPEAT}{kernel}"


def facts(record: Record) -> list[tuple[str, str]]:
    """Return what decides a run and what came of it, by name."""
    spec = record.spec
    return [
        ("kernel", f"Linux {record.kernel}" + (f", series {spec.kernel.build}" if spec.kernel.build else "")),
        ("kernel build", record.made_with["kernel builds"]),
        ("seed", str(spec.seed)),
        ("clock", spec.clock.mode),
        ("result digest", record.digest),
    ]
