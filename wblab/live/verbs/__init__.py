"""The verbs of the wing of the live machine."""
