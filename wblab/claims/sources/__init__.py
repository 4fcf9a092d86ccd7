"""What others claim and recommend: each source's claims, with the runs that each needs and its check."""
