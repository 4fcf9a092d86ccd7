"""Where the time of a synchronous write goes: each system call taken apart into states that sum to its duration."""
