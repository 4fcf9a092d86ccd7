"""What a response depends on: analyses of many runs whose factors were varied together. NumPy, SciPy and SALib only."""
