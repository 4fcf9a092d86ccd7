"""Versions of the Python packages: `make lock` chooses the exact ones, `make ends` tests both ends of each range."""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "constraints.txt"
_HEAD = "# Exact versions that `make` installs, written by `make lock`: the newest in the ranges of pyproject.toml.\n"
# Parts of tests/unit that use the packages. What runs a guest uses none.
_USERS = ("analysis", "commands", "lessons", "live", "on", "plot", "publish", "report", "study", "tracecmd")
_TOOLS = ("pytest-timeout", "pytest-xdist", "hypothesis", "nbclient", "nbformat", "tomli_w", "duckdb")


def requirements(*, tools: bool = False) -> list[Requirement]:
    """Return what the lab and its extras require, each once. tools: also those of the extra dev, without a range."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(text for extra in extras if extra != "dev" or tools for text in extras[extra])]
    return [Requirement(text) for text in dict.fromkeys(named) if not text.startswith("wblab")]


def locked() -> dict[str, str]:
    """Return the exact versions that `make` installs, by the name of the package in small letters."""
    lines = [line for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    return {name.lower().replace("_", "-"): version for name, _, version in (line.partition("==") for line in lines)}


def lowest(given: Iterable[Requirement]) -> list[str]:
    """Return the lowest version of each range, as pip's constraints."""
    ends = ((one.name, bound.version) for one in given for bound in one.specifier if bound.operator == ">=")
    return [f"{name}=={version}" for name, version in ends]


def lock() -> None:
    """Write the newest versions that fit together into constraints.txt. Installs nothing."""
    choose = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", f"{ROOT}[dev,notebooks]"]
    done = subprocess.run([sys.executable, "-m", "pip", *choose], stdout=subprocess.PIPE, check=True)
    chosen = [one["metadata"] for one in json.loads(done.stdout)["install"]]
    lines = sorted((f"{one['name']}=={one['version']}" for one in chosen if one["name"] != "wblab"), key=str.lower)
    LOCK.write_text(_HEAD + "\n".join(lines) + "\n")


def ends() -> None:
    """Run the tests that use packages on the lowest, then on the newest versions. Takes some minutes and 2 GB."""
    for end, versions in (("lowest", lowest(requirements())), ("newest", [])):
        with tempfile.TemporaryDirectory(prefix=f"wblab-{end}-") as place:
            tools = [f"{name}=={locked()[name.replace('_', '-')]}" for name in _TOOLS]
            Path(place, "versions").write_text("\n".join([*versions, *tools]))
            subprocess.run([sys.executable, "-m", "venv", f"{place}/venv"], check=True)
            wanted = ["--editable", f"{ROOT}[cluster,explore,live,notebooks,pages,pytest]", *_TOOLS]
            install = ["-m", "pip", "install", "--quiet", "--no-compile", "--constraint", f"{place}/versions", *wanted]
            subprocess.run([f"{place}/venv/bin/python", *install], check=True)
            print(f"The {end} versions:", flush=True)
            tests = ["-n", "auto", "--dist", "loadfile", "-q", "-m", "not uml and not bench and not soak"]
            command = [
                "-m",
                "pytest",
                *tests,
                *(f"{ROOT}/tests/unit/{part}" for part in (*_USERS, "test_notebooks.py")),
            ]
            environment = os.environ | {"PATH": f"{place}/venv/bin{os.pathsep}{os.environ['PATH']}"}
            subprocess.run([f"{place}/venv/bin/python", *command], cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    {"lock": lock, "ends": ends}[sys.argv[1]]()
