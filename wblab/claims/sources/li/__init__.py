"""Claims of Coly Li's blog."""
