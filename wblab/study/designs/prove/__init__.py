"""Proof by rerun: repeat a run without a suspect, or with a remedy, from some moment on."""
