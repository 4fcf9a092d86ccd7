"""The verbs of the wing that hands on."""
