"""What to set on this machine: remedies tried on its twin, the one that is worth it, and how it is installed."""
