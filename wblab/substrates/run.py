"""Make a run where its kernel runs: in User Mode Linux, or a stock kernel in QEMU."""

from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.host.recorded import Finished
from wblab.host.request import Request
from wblab.host.run import run_experiment
from wblab.kernels.here import HereKernel
from wblab.kernels.stock.kernel import StockKernel
from wblab.lab.progress import Report, silent


def run_anywhere(request: Request, results: Path, *, report: Report = silent, **options: Any) -> Finished:
    """Run a request; `options` are those of run_experiment. Raises RunFailedError, InputError."""
    if isinstance(request.kernel, HereKernel):
        raise InputError(f"{request.spec.kernel.name}: only wblab study --on runs a spec on this machine")
    if not isinstance(request.kernel, StockKernel):
        return run_experiment(request, results, report=report, **options)
    from wblab.substrates.qemu.run import run_stock

    if options.get("readable"):
        raise InputError("--allow-read: a stock kernel in QEMU sees no file of this machine: leave it out")
    limits = {key: value for key, value in options.items() if key == "limits"}
    return run_stock(request, results, report=report, **limits)
