"""What runs beside a machine's own work: the monitor and the daemon."""
