"""Proof by rerun: a run repeated without a suspect, or with a remedy, from some moment on."""
