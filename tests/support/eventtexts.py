"""Traces as text with requests of disks and counts of dirty memory, made up, as tools print them."""

FORMS = {
    "trace": "           {comm}-{pid}    [001] d..2. {at:.6f}: {event}: {said}",
    "trace_pipe": "           {comm}-{pid}    (  {pid}) [001] d..2. {at:.6f}: {event}: {said}",
    "trace-cmd report": "           {comm}-{pid}  [001]  {at:.9f}: {event}:        {said}",
    "perf script": "{comm}    {pid} [001]  {at:.6f}: {system}:{event}: {said}",
}
SYSTEMS = {"block_rq_issue": "block", "block_rq_complete": "block"}


def line(at, event, said, form="trace", who=("dd", 77)):
    comm, pid = who
    return FORMS[form].format(at=at, event=event, said=said, comm=comm, pid=pid, system=SYSTEMS.get(event, "writeback"))


def request(begin, end, sector, form="trace", *, disk="8,16", how="W", comm="dd", priority=""):
    """A request of 512 KiB, whose completion lacks if it has no end."""
    issued = line(begin, "block_rq_issue", f"{disk} {how} 524288 () {sector} + 1024{priority} [{comm}]", form)
    done = line(end or 0, "block_rq_complete", f"{disk} {how} () {sector} + 1024{priority} [0]", form, ("swapper/1", 0))
    return [issued, *([done] if end else [])]


def counts(at, dirty, form="trace", thresh=26000):
    said = f"dirty={dirty} writeback=0 bg_thresh=13000 thresh={thresh} limit={thresh} dirtied=1 written=1"
    return [line(at, "global_dirty_state", said, form)]
