"""What others claim, recommend and found, tried: the wing of claims."""
