"""What is counted, in Prometheus' text format: answered over HTTP, or in a file for node-exporter.

https://prometheus.io/docs/instrumenting/exposition_formats/, https://github.com/prometheus/node_exporter (textfile).
"""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from wblab.core.errors import InputError
from wblab.core.files import replace_file
from wblab.live.gauge import PORT
from wblab.live.gauge.counts import Counts

_LOOPBACK = "127.0.0.1"
_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):)?(?P<port>[0-9]{1,5})")
_MODE = 0o644  # node-exporter runs as a user of its own
_STACK_BYTES = 1 << 20  # of the thread of an answer: all memory is locked
_ENDING = ".prom"


class _Counted(Collector):
    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        for metric, rows in self._counts.all().items():
            family = (CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily)(
                metric.name, metric.about, labels=metric.labels
            )
            for labels, value in rows.items():
                family.add_metric(labels, value)
            yield family


def registry_of(counts: Counts) -> CollectorRegistry:
    """Return a registry that collects these counts alone."""
    registry = CollectorRegistry()
    registry.register(_Counted(counts))
    return registry


@dataclass(frozen=True)
class Address:
    """Where to listen."""

    host: str = _LOOPBACK
    port: int = PORT

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return self.host == "localhost"


def address_of(text: str) -> Address:
    """Return the address in PORT or HOST:PORT; without a host, of this machine only. Raises InputError."""
    found = _ADDRESS.fullmatch(text)
    if not found or int(found["port"]) >= 1 << 16:
        raise InputError(f"--metrics: {text!r} is no address: give a port such as {PORT}, or {_LOOPBACK}:{PORT}")
    return Address((found["host"] or _LOOPBACK).strip("[]"), int(found["port"]))


@contextmanager
def answering(counts: Counts, address: Address) -> Iterator[str]:
    """Answer Prometheus during the block; yields the URL. Raises InputError if we cannot listen there."""
    threading.stack_size(_STACK_BYTES)
    try:
        server, thread = start_http_server(address.port, address.host, registry_of(counts))
    except OSError as error:
        raise InputError(
            f"--metrics: cannot listen on {address.host}:{address.port}: {error.strerror}: give another port or address"
        ) from None
    try:
        host = f"[{address.host}]" if ":" in address.host else address.host
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class TextFile:
    """A file of the metrics, replaced as a whole. A thread writes it: its disk may be the one that is stuck."""

    def __init__(self, counts: Counts, path: Path) -> None:
        """Write it the first time. Raises InputError."""
        if path.suffix != _ENDING or path.name == _ENDING:
            raise InputError(f"--textfile: {path}: node-exporter reads only files that end in {_ENDING}: name it so")
        self._registry, self._path, self._wanted, self._is_over = registry_of(counts), path, threading.Event(), False
        self.failure = ""  # why it could not be written the last time
        self._clear()
        self._write()
        if self.failure:
            raise InputError(f"--textfile: cannot write {path}: {self.failure}: give another file")
        self._thread = threading.Thread(target=self._run, name="textfile", daemon=True)
        self._thread.start()

    def write(self) -> None:
        """Have it written, soon. If the last time still lasts, it is written once more after that."""
        self._wanted.set()

    def end(self, limit_s: float) -> None:
        """Remove it, unless its disk is stuck for longer than a limit: what is old misleads."""
        self._is_over = True
        self._wanted.set()
        self._thread.join(limit_s)

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._is_over:
                with suppress(OSError):
                    self._path.unlink()
                return
            self._write()

    def _clear(self) -> None:
        """Remove what a killed gauge has left half written."""
        half = re.compile(rf"\.{re.escape(self._path.name)}\.[0-9a-f]{{16}}\.partial")
        with suppress(OSError):
            for path in self._path.parent.iterdir():
                if half.fullmatch(path.name):
                    path.unlink()

    def _write(self) -> None:
        try:
            with replace_file(self._path) as file:
                file.write(generate_latest(self._registry))
                os.fchmod(file.fileno(), _MODE)
            self.failure = ""
        except OSError as error:
            self.failure = error.strerror or str(error)
