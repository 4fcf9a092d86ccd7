"""The events of one type, as columns."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tracecmd.columns import Bytes, Places, fixed, items, number_type, texts, varying
from tracecmd.errors import TraceError
from tracecmd.formats import EventFormat, Field
from tracecmd.printing import meanings

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]
_AT_ONCE = 4096  # records copied together, to stay in the processor's cache
TASK = ("ts_ns", "cpu", "pid", "comm")
_LARGEST_COUNT = 1 << 24  # more than a page holds
# A stack's length is stored in the event, not in its format (kernel/trace/trace_entries.h).
_COUNTED = {("ftrace", "kernel_stack", "caller"): "size"}


@dataclass
class Events(Mapping[str, Column]):
    """Events of one type in time order; a mapping from a column's name to an array with one item an event.

    `ts_ns` (int64 ns), `cpu`, `pid` and `comm` (of the running task) come first, then the event's own fields. A field
    with one of these four names is called `field_pid` and so on. Numbers have the size and sign of the format, strings
    become texts, arrays become rows of two dimensions, or objects if their lengths differ. Columns are read on first
    use.
    """

    format: EventFormat
    data: Bytes = field(repr=False)
    order: str = field(repr=False)
    places: Places = field(repr=False)
    sizes: NDArray[np.int32] = field(repr=False)
    ts_ns: NDArray[np.int64] = field(repr=False)
    cpu: NDArray[np.int32] = field(repr=False)
    names_of: Callable[[NDArray[np.int32]], NDArray[np.object_]] = field(repr=False)
    columns: tuple[str, ...] = ()
    _read: dict[str, Column] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.sizes) and int(self.sizes.min()) < self.format.least_bytes:
            short = int(self.sizes.min())
            raise TraceError(
                f"the trace is damaged: an event {self.name!r} has {short} bytes, its format {self.format.least_bytes}"
            )
        self._fields = {**{_key(item): item for item in self.format.fields}, **_common(self.format)}
        known = (*TASK, *(_key(item) for item in self.format.fields))
        for name in self.columns:
            if name not in TASK and name not in self._fields:
                raise KeyError(f"no column {name!r} in {self.name!r}: it has {', '.join(known)}")
        self.columns = self.columns or known

    @property
    def name(self) -> str:
        """The event's name."""
        return self.format.name

    @property
    def pid(self) -> NDArray[np.int32]:
        """Pid of the running task."""
        return self["pid"]

    @property
    def comm(self) -> NDArray[np.object_]:
        """Name of the running task, if the trace knows it."""
        return self["comm"]

    def __len__(self) -> int:
        """Return the number of events, as for an array; the columns are in `columns`."""
        return len(self.places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in TASK or name in self._fields

    def __getitem__(self, name: str) -> Column:
        if name not in self._read:
            self._read[name] = self._column(name)
        return self._read[name]

    def _column(self, name: str) -> Column:
        if name == "ts_ns":
            return self.ts_ns
        if name == "cpu":
            return self.cpu
        if name == "comm":
            return self.names_of(self["pid"])
        if name == "pid":
            return self["common_pid"]
        if name not in self._fields:
            raise KeyError(f"no column {name!r} in {self.name!r}: it has {', '.join(self.columns)}")
        return self._value(self._fields[name])

    def _value(self, item: Field) -> Column:
        counted = _COUNTED.get((self.format.system, self.name, item.name), "")
        if counted in self._fields and self._fields[counted].is_number:
            count = np.clip(self[counted], 0, _LARGEST_COUNT).astype(np.int64)
            ends = np.minimum(self.sizes, item.offset + count * max(1, item.item_bytes)).astype(np.int32)
            return varying(self.data, self.places, ends, _to_the_end(item), self.order)
        if item.dynamic or (len(self.sizes) and int(self.sizes.min()) < item.end):
            return varying(self.data, self.places, self.sizes, item, self.order)
        return fixed(self.data, self.places, item, self.order)

    def only(self, rows: NDArray[np.intp]) -> "Events":
        """Return a subset of the events; the others need not be read then."""
        sizes, ts_ns = self.sizes[rows], self.ts_ns[rows]
        return replace(self, places=self.places[rows], sizes=sizes, ts_ns=ts_ns, cpu=self.cpu[rows], _read={})

    def field(self, name: str) -> Column:
        """Return a field by its name in the format, whatever the column is called."""
        return self[f"field_{name}" if name in TASK and f"field_{name}" in self._fields else name]

    def decode(self, name: str) -> NDArray[np.object_]:
        """Return a column of numbers as the kernel prints them: by the names of flags or symbols.

        Raises KeyError for a field without such names, TraceError for names that only the kernel could resolve.
        """
        known = meanings(self.format.print_format)
        own = self._fields[name].name if name in self._fields and self._fields[name].is_number else ""
        if own not in known:
            raise KeyError(f"{name!r} of {self.name!r} has no names; fields with names: {', '.join(known) or 'none'}")
        meaning = known[own]
        if isinstance(meaning, TraceError):
            raise meaning
        values, inverse = np.unique(self[name], return_inverse=True)
        return np.array([meaning.text(value) for value in values.tolist()], object)[inverse]

    def read(self) -> Self:
        """Read all columns now; faster, as those of fixed size take one pass over the records."""
        names = dict.fromkeys("common_pid" if name in ("pid", "comm") else name for name in self.columns)
        wanted = [self._fields[name] for name in names if name not in self._read and name in self._fields]
        shortest_bytes = int(self.sizes.min()) if len(self) else 0
        numbers = [item for item in wanted if item.is_number]
        words = [item for item in wanted if item.is_text and not item.dynamic and item.end <= shortest_bytes]
        types = [number_type(item.size, item.signed, self.order) for item in numbers]
        found: list[Column] = [np.empty(len(self), number_type(item.size, item.signed)) for item in numbers]
        said: list[Column] = [np.empty(len(self), object) for _ in words]
        known: dict[bytes, str] = {}
        whole = np.dtype(f"V{max([1, *(item.end for item in numbers + words)])}")
        for start in range(0, len(self), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            records = items(self.data, 0, whole)[self.places[part]]
            for item, type_, column in zip(numbers, types, found, strict=True):
                column[part] = np.ndarray(len(records), type_, records, item.offset, whole.itemsize)
            for item, column in zip(words, said, strict=True):
                shape, strides = (len(records), item.size), (whole.itemsize, 1)
                column[part] = texts(np.ndarray(shape, np.uint8, records, item.offset, strides), known)
        self._read |= {_key(item): column for item, column in zip(numbers + words, found + said, strict=True)}
        for name in self.columns:
            self[name]
        return self

    def to_pandas(self) -> "pd.DataFrame":
        """Return a table with a row for each event. Needs pandas."""
        import pandas as pd

        table = self.read()
        return pd.DataFrame({name: list(table[name]) if table[name].ndim > 1 else table[name] for name in table})


def _key(item: Field) -> str:
    return f"field_{item.name}" if item.name in TASK else item.name


def _common(format_: EventFormat) -> dict[str, Field]:
    return {item.name: item for item in format_.common}


def _to_the_end(item: Field) -> Field:
    return Field(item.name, item.type, item.offset, 0, item.signed, "rest", True, item.item_bytes)
