"""What to set on this machine: remedies tried on its twin, the recommended one, and how to install it."""
