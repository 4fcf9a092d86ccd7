"""A live Linux: undoable changes, control groups, disks, I/O priorities, tracefs, other users' directories."""
