"""Why loads were stopped: what they waited for, who held it, and whose bytes went first."""
