"""What runs on the host: kernels, boots, checks of the machine."""
