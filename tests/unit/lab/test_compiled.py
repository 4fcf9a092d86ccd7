import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.lab import cache, compiled
from wblab.lab.compiled import keep_compiled


@pytest.fixture(autouse=True)
def own_cache(cache_home: Path) -> Iterator[None]:
    yield
    vars(dataclasses).pop("exec", None)


def command() -> tuple[type, int]:
    """Make a dataclass as a command does that ends; return it, and how many texts had to be compiled for it."""
    ends: list[Callable[[], None]] = []
    count = 0

    def counting(text: str, *how: object) -> object:
        nonlocal count
        count += 1
        return compile(text, *how)  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled, "compile", counting, raising=False)
        keep_compiled(ends.append)
        made = dataclasses.make_dataclass("Made", [("size", int), ("name", str, "disk")], frozen=True, order=True)
        for end in ends:
            end()
    return made, count


def test_a_second_command_compiles_nothing_and_makes_the_same_class() -> None:
    (first, some), (second, none) = command(), command()
    assert some > 0
    assert none == 0
    for made in (first, second):
        assert made(3) == made(3, "disk") < made(4)
        assert repr(made(3)) == "Made(size=3, name='disk')"
        with pytest.raises(dataclasses.FrozenInstanceError):
            made(3).size = 4  # type: ignore[attr-defined]


def test_a_file_that_is_damaged_is_replaced() -> None:
    command()
    (file,) = cache.home().glob("methods-*")
    for content in (b"", file.read_bytes()[:100], b"N"):
        file.write_bytes(content)
        assert command()[1] > 0
        assert command()[1] == 0


def test_what_others_may_write_is_not_executed() -> None:
    command()
    cache.home().chmod(0o777)
    with pytest.raises(WblabError):
        cache.check_own()
    assert command()[1] > 0


def test_the_file_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    command()
    (file,) = cache.home().glob("methods-*")
    size = file.stat().st_size
    monkeypatch.setattr(compiled, "_MOST", 0)
    file.write_bytes(compiled.marshal.dumps({b"old": bytes(10 * size)}))
    command()
    assert file.stat().st_size == size
