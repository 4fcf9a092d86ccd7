"""The mitigation daemon: finds what writes more than its share of a disk, holds it back, and undoes that exactly.

A period of it, in `loop`: what was written (`accounting`), what the disk takes (`disk`), who offends (`rule`), what is
done about it (`measures`, each change noted in `journal` before it is made).

To hold a process is to slow it down by the measures of the policy; to let it go is to undo that. An offender is held
with its children. A stray has inherited what was done to a held process, and was never seen by the daemon.
"""
