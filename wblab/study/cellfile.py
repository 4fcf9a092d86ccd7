"""The cells of a study that keeps rows: JSON, compressed with Zstandard. Their specs differ little from each other."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.files import parse_json, read_bytes
from wblab.lab.held import replace_file

_MOST_PACKED_BYTES, _MOST_BYTES = 64 << 20, 512 << 20  # of 100,000 cells
_MOST_VALUES = 25_000_000  # of them, too; Python takes some 60 bytes for an empty one
_LEVEL = 9


def write_cells(path: Path, cells: Sequence[Any]) -> None:
    """Write cells, each as a JSON object. Raises OSError."""
    import zstandard

    content = json.dumps(cells, ensure_ascii=False, separators=(",", ":")).encode()
    with replace_file(path) as file:
        file.write(zstandard.ZstdCompressor(level=_LEVEL).compress(content))


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two such files have the same bytes. Raises InputError."""
    return _packed(path) == _packed(other)


def read_cells(path: Path) -> Any:
    """Return the value in such a file, which may be a stranger's. Raises InputError."""
    import zstandard

    packed = _packed(path)
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed) as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
        if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
            raise ValueError(f"it has more than {_MOST_VALUES:,} values")
        return parse_json(content)
    except (ValueError, zstandard.ZstdError) as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None


def _packed(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_PACKED_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: was the study copied without it?") from None
