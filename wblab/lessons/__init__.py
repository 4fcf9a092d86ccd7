"""Lessons: read, given to a student, checked against the student's own runs, and graded."""
