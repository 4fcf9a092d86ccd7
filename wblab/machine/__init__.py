"""A live Linux: changes that are undone, control groups, I/O priorities, tracefs, directories of others."""
