"""Every combination of several settings: the axes of a matrix."""
