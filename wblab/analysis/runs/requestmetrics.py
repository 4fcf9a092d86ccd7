"""The write requests that each disk got, as metrics of a run."""

from wblab.analysis.runs.blocks import REQUESTS, Submitted, submitted
from wblab.analysis.runs.metrics import Row
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run
from wblab.core.units import NS_PER_S

DISK = "disk"  # the kind of a row, and the name of the only disk


def request_rows(run: Run) -> list[Row]:
    """Return the write requests of each disk while the loads ran: see `rows_of`.

    Raises InputError for a run that did not trace block:block_rq_issue.
    """
    end_ns = max(int(item.boundaries_ns[-1]) for item in run.loads)
    return rows_of(submitted(page_cache(run), REQUESTS), run.zero_ns, end_ns)


def rows_of(requests: Submitted, start_ns: int, end_ns: int) -> list[Row]:
    """Return each disk's write requests per second of a span, and their mean size in bytes.

    A row's load is the disk's name. A disk without a write has no row.
    """
    writes = requests.where(requests.write & (requests.ts_ns >= start_ns) & (requests.ts_ns < end_ns))
    seconds = (end_ns - start_ns) / NS_PER_S
    rows = []
    for disk in dict.fromkeys(writes.disk.tolist()):
        own = writes.of(disk)
        rows += [
            (disk or DISK, DISK, "write_requests_hz", len(own.ts_ns) / seconds),
            (disk or DISK, DISK, "mean_write_request_bytes", float(own.size.mean())),
        ]
    return rows
