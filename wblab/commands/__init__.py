"""The verbs of the command, a file each, and what several of them share."""
