"""A machine's twin: a guest scaled down from it, which should show the same pauses."""
