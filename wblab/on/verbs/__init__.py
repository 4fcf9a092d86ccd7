"""The verb of the wing that runs programs of one's own."""
