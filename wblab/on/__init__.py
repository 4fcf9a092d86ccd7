"""A user's own program in a guest with a slow disk: `wblab on`."""
