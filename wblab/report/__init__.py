"""Text for users: quantities and intervals, answers in words, the base of all pages, the colours of outcomes."""
