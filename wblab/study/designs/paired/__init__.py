"""Recommendations for writeback before the court: tried beside the default, and judged by what they promise."""
