"""The lab itself: its specs and presets, what its records look like, and what of them may be printed."""
