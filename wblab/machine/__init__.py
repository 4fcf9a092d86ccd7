"""A live Linux: changes that are undone, control groups, disks, I/O priorities, tracefs, directories of others."""
