"""What people read: quantities and intervals as text, words of answers, the base of all pages, colours of outcomes."""
