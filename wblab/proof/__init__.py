"""Proof by rerun: the same run without a suspect, from some moment on."""
