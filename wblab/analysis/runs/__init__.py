"""Run directories read back: columns, pauses, statistics."""
