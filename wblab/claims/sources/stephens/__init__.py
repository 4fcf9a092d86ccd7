"""Claims of B. Stephens's thesis on where the time of a synchronous write goes."""
