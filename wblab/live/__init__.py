"""This machine: runs on it, its disks measured, the monitor, the daemon."""
