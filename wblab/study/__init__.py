"""Matrices of experiments: many cells, several seeds for each, run side by side, with one table of results."""
