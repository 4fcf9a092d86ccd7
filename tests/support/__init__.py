"""Code shared by tests of several rooms, one file for each subject."""
