"""Two kernels compared, or each step from one to the other: built, run with paired seeds, and reported."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
