"""Why loads were stalled: what they waited for, which task held it, and the I/O ahead in the queue."""
