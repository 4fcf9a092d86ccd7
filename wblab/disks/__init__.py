"""What a real disk is like: it is measured with a file of its own, and the model of a device is fitted to that."""
