"""Recommend a setting for this machine: try remedies on its twin, choose one, and install it."""
