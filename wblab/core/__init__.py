"""What every stage shares. Standard library only: it is imported by PID 1 of the guest."""
