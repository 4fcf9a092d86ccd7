"""Claims of other works as executable checks (wblab verify)."""
