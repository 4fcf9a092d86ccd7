"""The page to play with: knobs, each position of which is a real run."""
