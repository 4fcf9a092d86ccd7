"""Many runs: what a directory of results has, their table, and groups of them compared."""
