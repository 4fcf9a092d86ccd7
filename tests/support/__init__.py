"""What tests of several rooms share, a file each subject."""
