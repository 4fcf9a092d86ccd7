"""PID 1 of a stock kernel: it makes the disks that User Mode Linux would have, and then is the lab's own guest."""
