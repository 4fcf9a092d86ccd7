"""Designs: how the cells of a study come about."""
