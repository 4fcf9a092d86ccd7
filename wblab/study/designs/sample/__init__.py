"""Designs of experiments: a space of settings, a sample of it, and the runs of a matrix that the sample is."""
