"""Analysis of run directories: their columns, pauses and files."""
