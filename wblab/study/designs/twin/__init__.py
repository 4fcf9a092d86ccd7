"""A machine's twin: a guest that is a scaled-down copy and should show the same pauses."""
