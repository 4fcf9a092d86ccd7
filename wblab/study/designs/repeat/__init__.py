"""Whether runs repeat: what two must have in common to be the same, here and on other machines."""
