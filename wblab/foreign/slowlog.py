"""Logs of programs that say which of their calls were slow: etcd, PostgreSQL, Redis and Valkey, MySQL, ZooKeeper.

Only messages count that say so themselves. How long a call took is what the program measured; of Redis it is a lower
limit. Times have no time zone here: only what lies between two of them counts.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from wblab.foreign.plaintext import lines_of

MOST_LINES, MOST_LETTERS, MOST_EVENTS = 2_000_000, 4096, 200_000
_NS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_GO = re.compile(r"(\d{1,9}(?:\.\d{1,12})?)(h|ms|µs|us|ns|m|s)")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
_EPOCH = re.compile(r'"ts":(1\d{9}\.\d{1,9})')
_SYSLOG = re.compile(r"\b([A-Z][a-z]{2}) {1,2}(\d{1,2}) (?:\d{4} )?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")
_REDIS_TIME = re.compile(r"\b(\d{1,2}) ([A-Z][a-z]{2}) (?:(\d{4}) )?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")
_NO_YEAR = 2000  # a leap year
_REDIS_S = 2.0  # src/aof.c: a write is postponed for so long while a sync lasts


@dataclass(frozen=True)
class SlowCall:
    """A slow call. call: what was slow, in words; took_s: for how long, or at least so long.

    at_s: when it was logged, after it ended; None if the line has no time. syncs_s: of a checkpoint, all of its syncs.
    """

    program: str
    call: str
    took_s: float
    at_s: float | None
    when: str
    syncs_s: float = 0.0


@dataclass(frozen=True)
class Form:
    """A message. sign: what is in each such line; comm: the program's process; least_s: the program's own threshold.

    of: what the form's match says: the call, how long it took, and how long all syncs took.
    """

    program: str
    comm: str
    sign: str
    form: re.Pattern[str]
    of: Callable[[re.Match[str]], tuple[str, float, float]]
    least_s: float


def _go(text: str) -> float:
    return sum(float(number) * _NS[unit] for number, unit in _GO.findall(text))


_TOOK = r"\W{1,6}([\dhmsµun.]{2,40})"
FORMS = (
    Form(
        *("etcd", "etcd", "slow fdatasync"),
        re.compile(r'slow fdatasync.{0,40}?"?took"?' + _TOOK),
        *(lambda found: ("fdatasync of its log", _go(found[1]), 0.0), 1.0),
    ),
    Form(
        *("etcd", "etcd", "sync duration of "),
        re.compile(r"sync duration of ([\dhmsµun.]{2,40}), expected less than"),
        *(lambda found: ("fdatasync of its log", _go(found[1]), 0.0), 1.0),
    ),
    Form(
        *("PostgreSQL", "postgres", "point complete: wrote "),
        re.compile(
            r"(?:check|restart)point complete: wrote \d.{0,200}? sync=(\d{1,9}\.\d{1,6}) s, .{0,60}"
            r"longest=(\d{1,9}\.\d{1,6}) s"
        ),
        *(lambda found: ("fsync of a file in a checkpoint", float(found[2]), float(found[1])), 0.0),
    ),
    Form(
        *("Redis", "redis-server", "AOF fsync is taking too long"),
        re.compile(r"Asynchronous AOF fsync is taking too long"),
        *(lambda found: ("fsync of its append-only file", _REDIS_S, 0.0), _REDIS_S),
    ),
    Form(
        *("MySQL", "mysqld", "intended loop took "),
        re.compile(r"page_cleaner: \d{3,5}ms intended loop took (\d{1,10})ms"),
        *(lambda found: ("a round of InnoDB's page cleaner", int(found[1]) / 1000, 0.0), 4.0),
    ),
    Form(
        *("MySQL", "mysqld", "Page cleaner took "),
        re.compile(r"Page cleaner took (\d{1,10})ms to flush"),
        *(lambda found: ("a round of InnoDB's page cleaner", int(found[1]) / 1000, 0.0), 4.0),
    ),
    Form(
        *("ZooKeeper", "java", "fsync-ing the write ahead log"),
        re.compile(r"fsync-ing the write ahead log in .{1,80} took (\d{1,10})ms"),
        *(lambda found: ("fsync of its log", int(found[1]) / 1000, 0.0), 1.0),
    ),
)


def read_slow_calls(text: str) -> list[SlowCall]:
    """Return the slow calls that a log has, in its order; checkpoints too whose syncs were short."""
    forms = [form for form in FORMS if form.sign in text]
    return list(_calls(text, forms)) if forms else []


def _calls(text: str, forms: list[Form]) -> Iterator[SlowCall]:
    events = 0
    for line in islice(lines_of(text, MOST_LETTERS), MOST_LINES):
        if events >= MOST_EVENTS:
            return
        for form in forms:
            if form.sign in line and (found := form.form.search(line)):
                call, took_s, syncs_s = form.of(found)
                at_s, when = _time(line[: found.start()]) or _time(line[found.end() :]) or (None, "")
                events += 1
                yield SlowCall(form.program, call, took_s, at_s, when, syncs_s)
                break


def _time(before: str) -> tuple[float, str] | None:
    """Return when a line was logged, in s and in its own words, by what stands before the message."""
    if found := _EPOCH.search(before):
        return float(found[1]), f"{datetime.fromtimestamp(float(found[1]), UTC):%Y-%m-%d %H:%M:%S}"
    if found := _ISO.search(before):
        year, month, day, *clock = found.groups()
    elif found := _REDIS_TIME.search(before):
        day, name, year, *clock = found.groups()
        month = name
    elif found := _SYSLOG.search(before):
        name, day, *clock = found.groups()
        year, month = None, name
    else:
        return None
    try:
        number = int(month) if month.isdecimal() else _MONTHS.index(month) + 1
        hour, minute, second, fraction = clock
        at = datetime(int(year or _NO_YEAR), number, int(day), int(hour), int(minute), min(int(second), 59))
    except ValueError:
        return None
    seconds = (at - datetime(1970, 1, 1)).total_seconds() + float(f"0.{fraction or 0}")
    return seconds, f"{hour}:{minute}:{second}" if not year else f"{at:%Y-%m-%d %H:%M:%S}"
