"""Recommendations for writeback, tried beside the default and judged by what they should bring."""
