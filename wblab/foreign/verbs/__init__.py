"""The verbs of the wing of what others recorded."""
