"""How long a task takes, in a table."""

import statistics
import time
from collections.abc import Callable

REPEATS = 5


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def show(title: str, figures_s: list[float], whole_s: float | None = None) -> None:
    share = f"{statistics.median(figures_s) / whole_s:6.0%}" if whole_s else ""
    print(f"  {title:44} {statistics.median(figures_s):6.2f} s  ({min(figures_s):.2f} to {max(figures_s):.2f}) {share}")
