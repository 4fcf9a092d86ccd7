"""The formats of a trace's events by name and number, each parsed on first use."""

from collections.abc import Iterable, Iterator, Mapping

from tracecmd.formats import EventFormat, identified, parse_format


class Catalogue(Mapping[str, EventFormat]):
    """Formats as "system:name". A kernel has thousands of events, few of which are read.

    Raises TraceError at once for a text without a name or an ID, and for other damage when that format is used.
    """

    def __init__(self, texts: Iterable[tuple[str, str]], long_bytes: int) -> None:
        self._long_bytes = long_bytes
        self._texts: dict[str, tuple[str, str]] = {}
        self._parsed: dict[str, EventFormat] = {}
        numbers: dict[str, int] = {}
        for system, text in texts:
            name, number = identified(system, text)
            self._texts[f"{system}:{name}"] = system, text
            numbers[f"{system}:{name}"] = number
        self.keys_by_id = {number: key for key, number in numbers.items()}
        self._by_name: dict[str, list[str]] = {}
        for key in self._texts:
            self._by_name.setdefault(_name(key), []).append(key)

    def __getitem__(self, key: str) -> EventFormat:
        if key not in self._parsed:
            self._parsed[key] = parse_format(*self._texts[key], self._long_bytes)
        return self._parsed[key]

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def called(self, name: str) -> list[str]:
        """Return the keys of the events that "name" or "system:name" may mean."""
        whole = [name] if name in self._texts else []
        return list(dict.fromkeys([*whole, *self._by_name.get(name, [])]))

    def short(self, key: str) -> str:
        """Return an event's name, prefixed by its system if another system has the same name."""
        return key if len(self._by_name[_name(key)]) > 1 else _name(key)


def _name(key: str) -> str:
    return key.partition(":")[2]
