"""Claims of He and others on where a filesystem puts a small file (Chopper)."""
