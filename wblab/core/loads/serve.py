"""A program with one main loop that serves objects, after A. Chadd, "Writing Disk-IO efficient applications"."""

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
    """Innocent: the main loop of a server, to which a request comes in each cycle: for one of its `objects`, at random.

    store: `files`, a file an object; `packed`, all in one file; `cyclic`, a log that is written over again and again.
    put_every: the object of every so many-th request is put anew and not got; 0: of none.
    paradigm: how. async_calls: the calls that are handed over, of those that the paradigm can; others are the loop's.
    depth: how many requests may be under way; one that finds no room is dropped.
    cache: `cold` drops an object from the page cache once it was got.
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
            raise InputError(f"{path}put_every: {self.put_every} is negative")

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
    """The main loop. A request's number is its object's: of one object there is no more than one under way."""

    def __init__(self, load: Serve, store: Store, engine: Engine, draws: Random) -> None:
        self._load, self._store, self._engine, self._draws = load, store, engine, draws
        self._hands_over = engine.takes & set(load.async_calls)
        self._under_way: dict[int, Work] = {}
        self._idle_s = load.idle / NS_PER_S

    def __call__(self, number: int) -> bool:
        for request, result in self._engine.reap():
            self._go_on(request, self._under_way[request], result)
        dropped = len(self._under_way) >= self._load.depth
        if not dropped:
            self._begin(number)
        time.sleep(self._idle_s)
        return dropped

    def close(self) -> None:
        self._engine.close()
        self._store.close()

    def _begin(self, number: int) -> None:
        wanted = self._draws.randrange(self._load.objects)
        while wanted in self._under_way:
            wanted = (wanted + 1) % self._load.objects
        every = self._load.put_every
        work = self._store.put(wanted) if every and number % every == every - 1 else self._store.get(wanted)
        self._go_on(wanted, work, None)

    def _go_on(self, request: int, work: Work, result: int | None) -> None:
        """Do what a request takes until it waits for a call, or is done. Raises OSError."""
        self._under_way.pop(request, None)
        while True:
            if result is not None and result < 0:
                raise OSError(-result, strerror(-result))
            try:
                call = next(work) if result is None else work.send(result)
            except StopIteration:
                return
            if call.name in self._hands_over:
                self._under_way[request] = work
                self._engine.submit(request, call)
                return
            result = self._engine.perform(call)
