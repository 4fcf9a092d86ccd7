"""Recommendations for writeback, tried beside the default and judged by what they should bring."""

from typing import Final

NAME: Final = __name__.rpartition(".")[2]
