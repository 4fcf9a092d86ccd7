"""Two kernels compared, or each step from one to the other: built, run with paired seeds, and reported."""
