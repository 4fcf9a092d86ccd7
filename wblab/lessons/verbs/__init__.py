"""The verbs of the wing of lessons."""
