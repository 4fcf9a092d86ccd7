"""Write one-dimensional int64 arrays as .npy files (format 1.0 of numpy.lib.format), without NumPy."""

from array import array
from pathlib import Path

_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64


def write_int64(path: Path, values: "array[int]") -> None:
    """Write `values` (type code 'q') to `path`."""
    path.write_bytes(head(len(values)) + values.tobytes())


def head(count: int) -> bytes:
    """Return what precedes so many values in a file; it is equally long for all counts that a file can have."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({count},), }}"
    fixed = len(_MAGIC) + 2
    header += " " * (-(fixed + len(header) + 1) % _ALIGNMENT) + "\n"
    return _MAGIC + len(header).to_bytes(2, "little") + header.encode()
