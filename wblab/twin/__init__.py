"""A machine's twin: a guest scaled down from it, in which the same pauses should be seen."""
