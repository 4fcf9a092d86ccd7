"""What all stages share. Standard library only, as PID 1 of the guest imports it."""
