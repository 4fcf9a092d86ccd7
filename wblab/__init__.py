"""wblab: a laptop lab for Linux writeback lock-ups."""

__version__ = "0.1.0"
