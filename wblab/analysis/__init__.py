"""Runs read back and explained: their causes, their statistics, what they depend on."""
