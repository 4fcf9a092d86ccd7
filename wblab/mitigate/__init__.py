"""The mitigation daemon: finds what writes more than its share of a disk, holds it back, and undoes that exactly.

One period of it, in `loop`: what was written (`accounting`), what the disk takes (`disk`), who offends (`rule`), what
is done about it (`measures`, noted before in `journal`).
"""
