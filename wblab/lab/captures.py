"""What a live run saves of a pause: a trace of the seconds around a pause, and what it covers."""

from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.tables import from_table, to_table
from wblab.lab.formats import CAPTURE, write_json

_ANY = "*"


@dataclass(frozen=True, order=True)
class Lost:
    """A span in which events of some processor were lost, in ns of CLOCK_MONOTONIC."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class CapturedPause:
    """What trace.pause-N.json says. All times are ns of CLOCK_MONOTONIC, as those of the loads.

    pause_start_ns, pause_end_ns: of the pause of `load`, without its idle time. start_ns, end_ns: what the file covers;
    the start is later than asked for where the buffer did not reach back that far. lost: what was lost in
    between. groups: the tasks in each control group, by its path, when the capture was saved.
    """

    number: int
    load: str
    pause_start_ns: int
    pause_end_ns: int
    start_ns: int
    end_ns: int
    lost: tuple[Lost, ...] = ()
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return capture_stem(self.number)

    @property
    def trace(self) -> str:
        """The name of its trace."""
        return f"{self.stem}.dat"

    @property
    def whole(self) -> bool:
        """Whether the file has all of the pause: it reaches back to before it, and nothing in it was lost."""
        has_lost = any(lost.start_ns < self.pause_end_ns and lost.end_ns > self.pause_start_ns for lost in self.lost)
        return self.start_ns <= self.pause_start_ns and not has_lost


def capture_stem(number: int | str) -> str:
    """Return how the names of a capture's files begin."""
    return f"trace.pause-{number}"


def capture_files(directory: Path) -> list[Path]:
    """Return all files of captures in a run directory."""
    return list(directory.glob(f"{capture_stem(_ANY)}"))


def write_capture(directory: Path, capture: CapturedPause) -> None:
    """Write what a capture is beside its trace. Raises OSError."""
    write_json(directory / f"{capture.stem}.json", CAPTURE.head() | to_table(capture))


def read_captures(directory: Path) -> list[CapturedPause]:
    """Return the captures in a run directory. Raises InputError for one that is damaged."""
    return [_read(path) for path in directory.glob(f"{capture_stem(_ANY)}.json")]


def _read(path: Path) -> CapturedPause:
    content = CAPTURE.read(path)
    try:
        capture = from_table(CapturedPause, {key: content[key] for key in content.keys() - CAPTURE.head().keys()})
    except InputError as error:
        raise InputError(f"{path} is damaged: {error}") from None
    if path.stem != capture.stem:
        raise InputError(f"{path} is damaged: it describes capture {capture.number}")
    return capture
