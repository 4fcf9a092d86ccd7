"""A run or a study in one file, for somebody else: written, read without trust, repeated."""
