"""A static site of results: pages that open from a directory, and a line on each that repeats what it shows."""
