"""What some verbs need beyond the core: extras of the lab's package (pyproject.toml), and how to get them here."""

import shlex
import sys
from collections.abc import Callable, Collection
from importlib.util import find_spec
from json import loads
from pathlib import Path
from typing import NamedTuple

from wblab.core.errors import InputError
from wblab.lab.places import INSTALLED, ROOT

# Extra -> the modules that it brings, as far as no other does.
MODULES = {
    "pages": ("jinja2", "markupsafe", "markdown_it", "perfetto", "google", "pygments"),
    "explore": ("pandas", "pyarrow", "scipy", "SALib", "jinja2", "markupsafe"),
    "live": ("aiohttp", "prometheus_client", "psutil", "pyroute2", "scipy"),
    "cluster": ("dask", "distributed"),
    "pytest": ("pytest",),
    "notebooks": ("IPython", "ipywidgets", "tomlkit"),
    "kernel": ("wblab_kernel",),
}

# The core's. What records a live run is the standard library alone, so any Python may come as far as these.
CORE = ("matplotlib", "numpy", "rich", "shtab", "tracecmd", "zstandard")


def is_there(extra: str) -> bool:
    """Return whether what an extra brings can be imported here."""
    return all(_found(module) for module in MODULES[extra])


def _found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def _origin() -> str:
    """Return where the lab was installed from, as requirements say it; '' where that is not known."""
    from importlib.metadata import PackageNotFoundError, distribution  # imports email: not for each command

    try:
        noted = distribution("wblab").read_text("direct_url.json")
        return f" @ {loads(noted)['url']}" if noted else ""
    except (PackageNotFoundError, ValueError, KeyError):
        return ""


class Installation(NamedTuple):  # no dataclass: importing these would take a third of the time in which --help answers
    """How the lab came here: by default, this lab.

    is_wheel: not a checkout. prefix: of its Python. has: whether an extra is there. origin: what it was installed from,
    as requirements say it.
    """

    is_wheel: bool = INSTALLED
    prefix: Path = Path(sys.prefix)
    has: Callable[[str], bool] = is_there
    origin: Callable[[], str] = _origin


_HERE = Installation()


def require(extras: Collection[str], here: Installation = _HERE) -> None:
    """Raise InputError, with the command that installs them, where extras are missing."""
    missing = [extra for extra in extras if not here.has(extra)]
    if missing:
        raise InputError(f"this needs more packages ({', '.join(missing)}): run {command(missing, here)}")


def missing_core(module: str) -> str:
    """Return what to run where a module of the lab's core could not be imported; '' for a module that is not there."""
    name = module.partition(".")[0]
    if name not in CORE:
        return ""
    if INSTALLED:
        return f"this Python has no {name}: install the lab again with what it needs (docs/how-to/install.md)"
    ours = ROOT / ".venv/bin/wblab"
    what = f"use {ours}" if ours.exists() else f"run 'make -C {shlex.quote(str(ROOT))} setup', then use {ours}"
    return f"this Python ({sys.executable}) has no {name}: {what}"


def missing_extra(module: str) -> str | None:
    """Return which extra brings a module that could not be imported; None where none does."""
    name = module.partition(".")[0]
    return next((extra for extra, modules in MODULES.items() if name in modules), None)


def command(extras: Collection[str], here: Installation = _HERE) -> str:
    """Return the command that adds extras to an installation, in the way in which it was made."""
    whole = [extra for extra in MODULES if extra in extras or here.has(extra)]
    if not here.is_wheel:
        ours = ROOT / ".venv/bin/python"  # that of `make`; experiment.py may run on another
        wanted = f"{ROOT}[{','.join(whole)}]"
        return shlex.join(
            [str(ours if ours.exists() else sys.executable), "-m", "pip", "install", "--editable", wanted]
        )
    # Wheels in a directory, as `make dist` writes them, are nowhere else: then add to the installation as it is.
    origin = "" if here.has("kernel") else here.origin()
    wanted = f"wblab[{','.join(whole)}]{origin}"
    if (here.prefix / "pipx_metadata.json").is_file():
        return shlex.join(
            [*(["pipx", "install", "--force"] if origin else ["pipx", "runpip", "wblab", "install"]), wanted]
        )
    if (here.prefix / "uv-receipt.toml").is_file():
        to_python = ["uv", "pip", "install", "--python", sys.executable]
        return shlex.join([*(["uv", "tool", "install", "--force"] if origin else to_python), wanted])
    return shlex.join([sys.executable, "-m", "pip", "install", wanted])
