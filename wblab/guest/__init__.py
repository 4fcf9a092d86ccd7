"""What runs inside the guest, as PID 1. Standard library and wblab.core only."""
