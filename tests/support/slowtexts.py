# ruff: noqa: E501 - lines of logs are long
"""Logs of programs with slow calls, made up, in the forms of their versions: each with what it says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Log:
    """A line of a log as a format of a time (h:m:s) and of how long the call took. least: what it says at least."""

    name: str
    line: str
    program: str
    least: float | None = None

    def text(self, *calls):
        """Lines at these seconds of a day, with how long each call took, in s."""
        rows = []
        for at, took in calls:
            clock = f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"
            go = f"{int(took // 60)}m{took % 60:g}s" if took >= 60 else f"{took:g}s"
            if took < 1:
                go = f"{took * 1000:g}ms"
            rows.append(
                self.line.format(clock=clock, go=go, ms=round(took * 1000), s=f"{took:.3f}", sum=f"{took * 2:.3f}")
            )
        return "\n".join(rows)


_POINT = (
    "checkpoint complete: wrote 4711 buffers ({{}}); 0 {} file(s) added, 0 removed, 5 recycled; write=26.970 s, "
    "sync={{sum}} s, total=30.100 s; sync files=12, longest={{s}} s, average=0.010 s{}"
)
_OLD, _NEW = (
    _POINT.format(*each).replace("{}", "1.5%") for each in (("transaction log", ""), ("WAL", "; distance=20209 kB"))
)
_JSON = '{{"level":"warn","ts":"2026-01-02T{clock}.123Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"{go}","expected-duration":"1s"}}'

LOGS = (
    Log("etcd 3.5", _JSON, "etcd"),
    Log("etcd in a pod", "2026-01-02T{clock}.1Z stderr F " + _JSON, "etcd"),
    Log(
        "etcd, keys sorted",
        '{{"level":"warn","msg":"slow fdatasync","took":"{go}","ts":"2026-01-02T{clock}.5Z"}}',
        "etcd",
    ),
    Log("etcd 3.3", "2026-01-02 {clock}.185438 W | wal: sync duration of {go}, expected less than 1s", "etcd"),
    Log("etcd in syslog", "Jan  2 {clock} node-0 etcd[911]: sync duration of {go}, expected less than 1s", "etcd"),
    Log("etcd 2", "2026/01/02 {clock} wal.go:403: Warning: sync duration of {go}, expected less than 1s", "etcd"),
    Log("PostgreSQL 9.6", "2026-01-02 {clock} EET [6428-6] LOG:  " + _OLD, "PostgreSQL"),
    Log("PostgreSQL 16", "2026-01-02 {clock}.342 UTC [102] LOG:  " + _NEW, "PostgreSQL"),
    Log(
        "PostgreSQL 17",
        "2026-01-02 {clock}.342 UTC [102] LOG:  " + _NEW.replace(");", "), wrote 3 SLRU buffers;", 1),
        "PostgreSQL",
    ),
    Log(
        "PostgreSQL, CSV",
        '2026-01-02 {clock}.329 CET,,,18682,,53.48,4985,,2026-01-01 09:15:24 CET,,0,LOG,00000,"' + _OLD + '",,,',
        "PostgreSQL",
    ),
    Log(
        "PostgreSQL, a standby",
        "Jan  2 {clock} db postgres[7]: [1-1] LOG:  " + _NEW.replace("checkpoint", "restartpoint"),
        "PostgreSQL",
    ),
    Log(
        "Redis 2.8",
        "[4018] 02 Jan {clock}.011 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing ...",
        "Redis",
        2.0,
    ),
    Log(
        "Redis 7",
        "4018:M 02 Jan 2026 {clock}.011 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing ...",
        "Redis",
        2.0,
    ),
    Log(
        "MySQL 5.7",
        "2026-01-02T{clock}.877149Z 0 [Note] InnoDB: page_cleaner: 1000ms intended loop took {ms}ms. The settings ...",
        "MySQL",
    ),
    Log(
        "MySQL 8",
        "2026-01-02T{clock}.877149Z 0 [Note] [MY-011953] [InnoDB] Page cleaner took {ms}ms to flush 200 and evict 0 pages",
        "MySQL",
    ),
    Log(
        "ZooKeeper",
        "2026-01-02 {clock},123 [myid:1] - WARN  [SyncThread:1:FileTxnLog@374] - fsync-ing the write ahead log in SyncThread:1 took {ms}ms which will ...",
        "ZooKeeper",
    ),
)
