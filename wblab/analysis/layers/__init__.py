"""Where the time of a synchronous write goes: each system call broken down into states that sum to its duration."""
