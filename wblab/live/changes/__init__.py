"""Changes to this machine that outlive a command: what may be set, the journal of it, and the way back.

`permitted` is the table of what root may set, and may undo because a journal says so. `journal` notes each change
before it is made, and survives a SIGKILL. `setting` sets a file of the kernel by both. `wblab advise` and `wblab
mitigate` change the machine through this room alone; changes that end with a command are in `wblab.machine.undo`.
"""
