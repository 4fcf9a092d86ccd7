"""Findings as data: what is claimed, the runs that show it, and what is handed on to others."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
