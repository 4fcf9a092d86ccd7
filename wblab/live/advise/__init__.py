"""Recommend a setting for this machine: try remedies on its twin, choose one, and install it."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
