"""Statistics over seeds: intervals, corrections, and the rule that decides whether something is reproduced."""
