"""The monitor: a sampler that watches writeback without taking part in it, and a page that shows its samples."""

PORT = 9643  # of the page, if it is free
