"""What is handed on to others: runs and studies in one file, and pages about them."""
