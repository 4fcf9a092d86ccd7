"""The gauge: what the monitor sees as counters for a monitoring system, each second, at little cost."""

PORT = 9644  # of the answers to Prometheus; the monitor's page has 9643
