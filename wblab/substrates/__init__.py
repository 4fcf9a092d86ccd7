"""Where a spec can run beside a guest of User Mode Linux in virtual time."""
