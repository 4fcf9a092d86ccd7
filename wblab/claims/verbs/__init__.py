"""The verbs of the wing of claims."""
