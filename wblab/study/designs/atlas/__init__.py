"""Which claims hold on which kernel and which filesystem: verifications side by side."""
