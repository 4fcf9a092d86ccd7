"""Files of other machines: what they are, and what they say."""
