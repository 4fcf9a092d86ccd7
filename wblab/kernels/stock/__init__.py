"""Stock kernels: those of distributions for x86-64 machines, unpatched. They run in QEMU."""
