"""Claims of other works, as checks that the lab runs (wblab study)."""
