"""The mitigation daemon: find processes that write more than their share of a disk, slow them down, undo that exactly.

One period, in `loop`: count written bytes (`accounting`), estimate the disk's bandwidth (`disk`), find offenders
(`rule`), act (`measures`). Each change is noted in `journal` before it is made.

To *hold* a process is to slow it down by the policy's measures; to *release* it is to undo that. An offender is held
with its children. A *stray* is a process that inherited a held process's settings and that the daemon never saw.
"""
