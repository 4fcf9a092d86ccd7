"""Claims of Mendez's thesis on lock-ups."""
