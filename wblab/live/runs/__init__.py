"""Experiments on this machine itself: the loads, a command as the offender, and a trace."""
