"""Pages of docs/ that show measured results: short in the repository, whole in the built docs and on a site."""
