"""The guest's side of the pytest plugin: runs one test, and says each report as a line.

Its text is what Python runs in the guest, so that a test's environment needs pytest there and nothing of the lab. It
says on standard output, as no disk that is slow, full or failing stands in the way there.
"""

import json
import os
import sys
from typing import Any

import pytest

MARK = "slow_disk"
SEEDS = "slow_disk_seeds"
SEED = "slow_disk_seed"  # the parameter that tells the tests of several seeds apart
SAID = "\x1ewblab "  # begins a line that is ours, between those that a test prints
REPORT, WARNING, UNCOLLECTED = "report", "warning", "uncollected"


def generate(metafunc: pytest.Metafunc) -> None:
    """Make a test with the mark several ones, if several seeds are asked for."""
    seeds = metafunc.config.getoption(SEEDS)
    if seeds > 1 and metafunc.definition.get_closest_marker(MARK):
        metafunc.fixturenames.append(SEED)
        metafunc.parametrize(SEED, range(seeds), ids=[f"seed{number}" for number in range(seeds)])


class Sayer:
    """A plugin that says what becomes of a test. options: those of the session outside, by the names of argparse."""

    def __init__(self, said: int, options: dict[str, Any]) -> None:
        self._said = said
        self._options = options

    def say(self, kind: str, content: Any) -> None:
        """Write a line of ours."""
        line = f"\n{SAID}{json.dumps([kind, content], default=str)}\n".encode()
        while line:
            line = line[os.write(self._said, line) :]

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """Know the plugin's option, with which a test has the same name here."""
        parser.addoption("--slow-disk-seeds", type=int, default=1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Take over the options of the session outside, whichever plugins they belong to."""
        vars(config.option).update(self._options)
        config.addinivalue_line("markers", f"{MARK}(disk, **options): runs here")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Name tests as outside."""
        generate(metafunc)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say why nothing could be collected."""
        if report.failed:
            self.say(UNCOLLECTED, report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say a report as pytest itself writes it for other processes."""
        hook = self._config.hook
        self.say(REPORT, hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        """Say a warning of the test; the others are seen outside too."""
        if when == "runtest":
            kind = warning_message.category
            named = [kind.__module__, kind.__qualname__, warning_message.filename, warning_message.lineno]
            self.say(WARNING, [str(warning_message.message), *named, location])

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the configuration."""
        self._config = config


def main(text: str) -> int:
    """Run a test. text: JSON of the arguments, options, directory and search path. Return pytest's exit code."""
    given = json.loads(text)
    said = os.dup(1)  # the test may do with standard output what it likes
    os.chdir(given["directory"])
    sys.path[:1] = given["path"]
    return pytest.main(given["arguments"], plugins=[Sayer(said, given["options"])])


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    sys.exit(code)
