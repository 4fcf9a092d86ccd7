"""Every combination of several settings: the axes of a matrix."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
