"""Reproducibility: the inputs that two runs must share to be identical, on this machine and on others."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
