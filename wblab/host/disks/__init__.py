"""Disks as the host makes them: files in memory with a filesystem, the same bytes each time."""
