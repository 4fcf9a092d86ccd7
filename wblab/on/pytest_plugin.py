"""A plugin of pytest: a test with the mark slow_disk runs in a guest of its own, and is reported as any other test.

    @pytest.mark.slow_disk("sd-card", beside="copy", limit="200ms")
    def test_saving(tmp_path): ...

PYTEST_DONT_REWRITE: nothing is asserted here.

pytest loads this wherever the lab is installed: without the plugin, the mark would mean nothing, and a test would pass
on a disk that is not slow. So it imports pytest and the standard library only; `wblab on` is a process of its own.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from wblab.on import pytest_inside
from wblab.on.pytest_inside import MARK, REPORT, SAID, SEED, UNCOLLECTED, WARNING, generate

_GUEST = Path("/run/wblab")  # only guests have it: there, the disk is slow already
_OURS = ("dir", "exp", "json", "junit", "seeds")
_SECTION = "slow disk"
_LAST_LINES = 20
_SHORT_NS = 1_000_000
# What the guest's session is not to do: what is for many tests, for a terminal, or done outside already.
_OUTSIDE = frozenset(
    {
        *("basetemp", "cacheclear", "cacheshow", "collectonly", "debug", "deselect", "dist", "distload"),
        *("failedfirst", "file_or_dir", "help", "ignore", "ignore_glob", "inifilename", "keyword"),
        *("last_failed_no_failures", "lf", "looponfail", "markers", "markexpr", "maxfail", "maxprocesses"),
        *("newfirst", "numprocesses", "override_ini", "pastebin", "plugins", "px", "pyargs", "pythonwarnings"),
        *("rootdir", "rsyncdir", "showhelp", "stepwise", "stepwise_reset", "stepwise_skip", "testrunuid", "trace"),
        *("tx", "usepdb", "usepdb_cls", "version", "xmlpath"),
    }
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Describe the option."""
    group = parser.getgroup("slow disk", "tests on a slow disk (wblab)")
    about = "run each test that has the mark slow_disk N times, with other seeds (default: 1)"
    group.addoption("--slow-disk-seeds", type=int, default=1, metavar="N", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark."""
    about = "run the test in a guest on this disk, with the options of 'wblab on': limit='200ms', beside='copy'"
    config.addinivalue_line("markers", f"{MARK}(disk, **options): {about}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each seed."""
    generate(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test that has the mark in a guest; leave the others to pytest."""
    mark = item.get_closest_marker(MARK)
    if mark is None or _GUEST.exists():
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, mark, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports(item: pytest.Item, mark: pytest.Mark, nextitem: pytest.Item | None) -> Iterator[pytest.TestReport]:
    """Yield the reports of a test: the guest's, or one that says why there are none."""
    came, is_complete = _run(item, mark), False
    if isinstance(came, str):
        yield _failed(item, "setup", f"{MARK}: {came}")
    else:
        reports = [_report(item, data) for data in came.reports]
        _warn(item, came.warnings)
        if item.config.getoption("capture") == "no":
            sys.stdout.write(came.printed)
        for report in reports:
            if report.when == "call":
                _add_calls(item, report, came.told)
            yield report
        is_complete = any(report.when == "teardown" for report in reports)
        if not is_complete:
            yield _failed(item, "call" if reports else "setup", came.without_reports())
    # What tests before this one set up for several tests, and the next one does not need. What pytest does after its
    # own tests is in no public name.
    undo: Callable[[pytest.Item | None], None] = cast(Any, item.session)._setupstate.teardown_exact
    if item.session.shouldfail or item.session.shouldstop:
        nextitem = None
    undone = pytest.CallInfo.from_call(lambda: undo(nextitem), "teardown")
    if undone.excinfo or not is_complete:
        yield pytest.TestReport.from_item_and_call(item, undone)


@dataclass(frozen=True)
class _Came:
    """What came of a guest. told: what `wblab on --json` says; printed: what the test printed uncaptured."""

    reports: tuple[dict[str, Any], ...]
    warnings: tuple[list[Any], ...]
    uncollected: tuple[str, ...]
    printed: str
    errors: str
    told: dict[str, Any]

    def without_reports(self) -> str:
        """Return in words that the guest's pytest ended before its reports were complete."""
        if self.uncollected:
            return f"it cannot be collected in the guest:\n{self.uncollected[0]}"
        last = "\n".join(f"{self.printed}\n{self.errors}".strip().splitlines()[-_LAST_LINES:])
        notes = "".join(f"\n{note}" for note in self.told["notes"])
        said = f"pytest in the guest ended with exit code {self.told['exit_code']}{notes}"
        return "\n".join(filter(None, (said, last, f"run: {self.told['directory']}")))


def _run(item: pytest.Item, mark: pytest.Mark) -> _Came | str:
    """Run a test in a guest. Return what came of it, or in a line why none could be made."""
    if wrong := _wrong(item, mark):
        return wrong
    command = [sys.executable, "-P", "-m", "wblab", "on", *_options(item, mark), "--", *_inside(item)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        try:
            out, err = process.communicate()
        except BaseException:  # a key, or another plugin's time limit: the guest ends in order
            process.terminate()
            process.communicate()
            raise
    before, brace, told = err.rpartition("\n{\n") if not err.startswith("{\n") else ("", "{\n", err[2:])
    try:
        found = json.loads("{" + told) if brace else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        said = (err.strip().splitlines() or [f"it ended with exit code {process.returncode}"])[-1]
        return said.removeprefix("wblab: ")
    lines = _said(out)
    ours = {kind: tuple(content for said, content in lines if said == kind) for kind in (REPORT, WARNING, UNCOLLECTED)}
    printed = "".join(content for kind, content in lines if kind == "")
    return _Came(ours[REPORT], ours[WARNING], ours[UNCOLLECTED], printed, before, found)


def _said(out: str) -> list[tuple[str, Any]]:
    """Return the lines of ours in a guest's output, and between them, with an empty kind, what a test printed."""
    found: list[tuple[str, Any]] = []
    first, *others = out.split(f"\n{SAID}")
    for piece in others:
        line, _, rest = piece.partition("\n")
        with suppress(ValueError):
            kind, content = json.loads(line)
            found.append((kind, content))
        found.append(("", rest))
    return [("", first), *found]


def _wrong(item: pytest.Item, mark: pytest.Mark) -> str:
    """Return what cannot be with a mark, or an empty text."""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str):
        return f'give one disk, as in @pytest.mark.{MARK}("sd-card")'
    if ours := sorted(set(mark.kwargs) & set(_OURS)):
        instead = "use --slow-disk-seeds" if ours[0] == "seeds" else "the plugin sets it"
        return f"{ours[0]} is no option of the mark: {instead}"
    root = item.config.rootpath
    return "" if item.path.is_relative_to(root) else f"{item.path} is not below {root}, the directory that goes along"


def _options(item: pytest.Item, mark: pytest.Mark) -> Iterator[str]:
    """Yield the words of `wblab on` before the command."""
    root, options = item.config.rootpath, dict(mark.kwargs)
    if callspec := getattr(item, "callspec", None):
        options["seed"] = int(options.get("seed", 0)) + callspec.params.get(SEED, 0)
    yield mark.args[0]
    for name, value in options.items():
        word = f"--{name.replace('_', '-')}"
        if value is True:
            yield word
        elif value is not False and value is not None:
            for one in value if isinstance(value, list | tuple) else (value,):
                yield f"{word}={one}"
    yield from ("--json", f"--dir={root}")
    if "WBLAB_EXP" not in os.environ:  # pytest removes its temporary directories after some sessions
        factory: pytest.TempPathFactory = cast(Any, item.config)._tmp_path_factory
        yield f"--exp={factory.mktemp('slow-disk')}"


def _inside(item: pytest.Item) -> list[str]:
    """Return the command that runs a test in the guest: this Python, with the text of the guest's side."""
    config, root, option = item.config, item.config.rootpath, item.config.option
    name = item.nodeid.partition("::")[2]
    arguments = [f"{item.path}::{name}" if name else str(item.path), f"--rootdir={root}", "-p", "no:terminal"]
    arguments += ["-p", f"no:{__name__}", "-o", "addopts=", "-o", "cache_dir=/tmp/.pytest_cache"]
    for flag, values in (("-p", option.plugins), ("-o", option.override_ini), ("-W", option.pythonwarnings)):
        for value in values or ():
            if not value.startswith(("addopts=", "cache_dir=", "no:terminal", __name__)):
                arguments += [flag, value]
    arguments += [f"-c{config.inipath}"] if config.inipath else []
    arguments += [f"--capture={option.capture}", f"--assert={option.assertmode}", f"--import-mode={option.importmode}"]
    arguments += [f"--confcutdir={option.confcutdir}"] if option.confcutdir else []
    arguments += ["--noconftest"] if option.noconftest else []
    here = config.invocation_params.dir
    given = {
        "arguments": arguments,
        "options": {key: value for key, value in vars(option).items() if key not in _OUTSIDE and _is_plain(value)},
        "directory": str(here if here.is_relative_to(root) else root),
        "path": [path for path in sys.path if Path(path).is_relative_to(root)],
    }
    text = Path(pytest_inside.__file__).read_text()
    return [sys.executable, "-B", "-c", text, json.dumps(given, sort_keys=True)]


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _report(item: pytest.Item, data: dict[str, Any]) -> pytest.TestReport:
    """Return a report of the guest, with what JSON has no type for as pytest has it."""
    for key in ("location", "longrepr"):
        if isinstance(data.get(key), list):
            data[key] = tuple(data[key])
    data["sections"] = [tuple(section) for section in data["sections"]]
    data["user_properties"] = [tuple(one) for one in data["user_properties"]]
    data["nodeid"] = item.nodeid
    report = item.ihook.pytest_report_from_serializable(config=item.config, data=data)
    return cast(pytest.TestReport, report)


def _add_calls(item: pytest.Item, report: pytest.TestReport, told: Mapping[str, Any]) -> None:
    """Add the longest call to a report; over the limit, the test has failed."""
    longest = (f"longest call: {told['told']}", f"why: {told['why']}")
    is_long = told["longest"] and told["longest"]["time_ns"] >= _SHORT_NS
    lines = [*(longest if is_long else ()), *told["notes"], f"run: {told['directory']}"]
    report.sections.append((_SECTION, "\n".join(lines)))
    if not told["over_limit"]:
        return
    said = f"{told['told']}\n{told['why']}"
    strict = isinstance(report.longrepr, str) and report.longrepr.startswith("[XPASS(strict)]")
    if hasattr(report, "wasxfail") or strict:  # it was expected to fail, and it does
        report.outcome, report.longrepr = "skipped", said
        report.wasxfail = getattr(report, "wasxfail", "") or told["told"]
    elif report.passed:
        report.outcome, report.longrepr = "failed", _failed(item, "call", said).longrepr


def _failed(item: pytest.Item, when: Any, said: str) -> pytest.TestReport:
    """Return a report of a failure that has no traceback: it stands where the test does."""
    call = pytest.CallInfo.from_call(lambda: pytest.fail(said, pytrace=False), when)
    report = pytest.TestReport.from_item_and_call(item, call)
    if crash := getattr(report.longrepr, "reprcrash", None):
        crash.path, crash.lineno = str(item.path), (item.location[1] or 0) + 1
    return report


def _warn(item: pytest.Item, said: tuple[list[Any], ...]) -> None:
    """Record the guest's warnings as if they came from here."""
    for text, module, name, filename, lineno, location in said:
        kind: Any = None
        with suppress(ImportError, AttributeError, ValueError):
            kind = getattr(import_module(module), name)
        kind = kind if isinstance(kind, type) and issubclass(kind, Warning) else UserWarning
        message = warnings.WarningMessage(UserWarning(text), kind, filename, lineno)
        item.ihook.pytest_warning_recorded.call_historic(
            kwargs={
                "warning_message": message,
                "when": "runtest",
                "nodeid": item.nodeid,
                "location": tuple(location) if location else None,
            }
        )
