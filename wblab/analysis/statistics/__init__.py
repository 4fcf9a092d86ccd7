"""Figures over seeds: intervals, corrections, and the one rule by which something is reproduced."""
