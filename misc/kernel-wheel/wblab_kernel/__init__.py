"""A built kernel for wblab. SOURCE.md says what it was built from and offers the source; wblab/kernels/carry.py."""
