"""Measure a real disk with a file on it, and fit the model of a device to the measurement."""
