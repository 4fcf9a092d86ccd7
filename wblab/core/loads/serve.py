"""A server with one main loop, after A. Chadd, "Writing Disk-IO efficient applications"."""

import time
from dataclasses import dataclass
from mmap import PAGESIZE
from os import strerror
from pathlib import Path
from random import Random
from typing import Literal

from wblab.core.errors import InputError
from wblab.core.loads.base import Cycle, Periodic, Progress
from wblab.core.loads.engines import ENGINES, NAMES, Engine, Name
from wblab.core.loads.files import OnFile
from wblab.core.loads.stores import STORES, Kind, Store, Work, lay_out_objects, places
from wblab.core.parameters import check_block
from wblab.core.units import NS_PER_S, Bytes, format_bytes, format_time

_MOST_OBJECTS = 1 << 16
_MOST_DEPTH = 256
_WORDS = {
    "sync": "itself",
    "threads": "by threads",
    "aio": "by POSIX AIO",
    "io_uring": "by io_uring",
    "mmap": "from mapped memory",
    "sendfile": "with sendfile",
}


@dataclass(frozen=True, kw_only=True)
class Serve(Periodic, OnFile):
    """Innocent: a server's main loop, which gets a request for a random one of its `objects` in each cycle.

    store: where objects are. files: one file each. packed: all in one file. cyclic: in a log that is overwritten.
    put_every: every n-th request stores a new object instead of reading one; 0: none does.
    paradigm: how calls are made. async_calls: the calls that are submitted to it, if it can; the loop makes the others.
    depth: the limit of requests in flight; a request above it is dropped.
    cache: `cold` drops an object from the page cache after reading it.
    """

    kind = "serve"
    block: Bytes = Bytes(16384)
    objects: int = 256
    store: Kind = "files"
    put_every: int = 4
    paradigm: Literal["sync", "threads", "aio", "io_uring", "mmap", "sendfile"] = "sync"
    async_calls: tuple[Name, ...] = NAMES
    depth: int = 16
    cache: Literal["cold", "kept"] = "cold"

    @property
    def description(self) -> str:
        store = {"files": "files", "packed": "one file", "cyclic": "a cyclic log"}[self.store]
        what = f"a main loop that serves {format_bytes(self.block)} from {store} {_WORDS[self.paradigm]}"
        return f"{what}, every {format_time(self.idle)}"

    @property
    def files(self) -> dict[str, Bytes]:
        count = places(self.objects, self.block) if self.store == "cyclic" else self.objects
        return {self.file: Bytes(count * self.block)}

    def check(self, path: str = "") -> None:
        super().check(path)
        check_block(f"{path}block", self.block)
        if self.block % PAGESIZE:
            raise InputError(f"{path}block: {format_bytes(self.block)} is not a multiple of a page, {PAGESIZE} B")
        if not 1 <= self.depth <= _MOST_DEPTH:
            raise InputError(f"{path}depth: {self.depth} is not between 1 and {_MOST_DEPTH}")
        if not self.depth < self.objects <= _MOST_OBJECTS:
            raise InputError(f"{path}objects: {self.objects} is not between depth + 1 and {_MOST_OBJECTS}")
        if self.put_every < 0:
            raise InputError(f"{path}put_every: {self.put_every} is negative: give 0 or more")

    def lay_out(self, mount: Path, progress: Progress = lambda: None) -> None:
        lay_out_objects(self.store, mount / self.file, self.objects, self.block, progress)

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        self.lay_out(mount)
        store = STORES[self.store](mount / self.file, self.objects, self.block, self.cache == "cold")
        return _Serving(self, store, ENGINES[self.paradigm](self.depth), draws)

    def finish(self, cycle: Cycle) -> None:
        if isinstance(cycle, _Serving):
            cycle.close()


class _Serving:
    """The main loop. A request has the number of its object: at most one request per object is in flight."""

    def __init__(self, load: Serve, store: Store, engine: Engine, draws: Random) -> None:
        self._load, self._store, self._engine, self._draws = load, store, engine, draws
        self._submits = engine.accepts & set(load.async_calls)
        self._in_flight: dict[int, Work] = {}
        self._idle_s = load.idle / NS_PER_S

    def __call__(self, number: int) -> bool:
        for request, result in self._engine.reap():
            self._advance(request, self._in_flight[request], result)
        dropped = len(self._in_flight) >= self._load.depth
        if not dropped:
            self._begin(number)
        time.sleep(self._idle_s)
        return dropped

    def close(self) -> None:
        self._engine.close()
        self._store.close()

    def _begin(self, number: int) -> None:
        wanted = self._draws.randrange(self._load.objects)
        while wanted in self._in_flight:
            wanted = (wanted + 1) % self._load.objects
        every = self._load.put_every
        work = self._store.put(wanted) if every and number % every == every - 1 else self._store.get(wanted)
        self._advance(wanted, work, None)

    def _advance(self, request: int, work: Work, result: int | None) -> None:
        """Make the calls of a request until it waits for a submitted one, or is done. Raises OSError."""
        self._in_flight.pop(request, None)
        while True:
            if result is not None and result < 0:
                raise OSError(-result, strerror(-result))
            try:
                call = next(work) if result is None else work.send(result)
            except StopIteration:
                return
            if call.name in self._submits:
                self._in_flight[request] = work
                self._engine.submit(request, call)
                return
            result = self._engine.perform(call)
