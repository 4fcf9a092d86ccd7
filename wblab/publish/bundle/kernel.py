"""The kernel that repeats a run from elsewhere: the same build if it is here, else one of the same series."""

import re
from dataclasses import replace

from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.errors import InputError
from wblab.kernels import Kernel, built_kernel
from wblab.kernels.build import result
from wblab.kernels.kernel import load
from wblab.kernels.processors import on_processors
from wblab.lab.kernelname import processors_in

_BUILD_ID = re.compile(r"[0-9a-f]{64}")
_SERIES = re.compile(r"\d{1,4}\.\d{1,4}")


def kernel_for(run: Run) -> Kernel:
    """Return the kernel for a repetition. A record may choose among the lab's builds here, and no other program.

    Raises InputError, with what to run, if it is not built here.
    """
    spec, made = guest_spec(run), run.record.get("kernel") or {}
    build_id, series = str(made.get("build_id")), str(made.get("series"))
    is_ours = _BUILD_ID.fullmatch(build_id) is not None
    if is_ours and (built := load(result(build_id))) and built.build_id == build_id:
        return on_processors(built, processors_in(spec.kernel.name)[1], spec.kernel.name)
    named = spec.kernel.name or (series if _SERIES.fullmatch(series) else "")
    try:
        return built_kernel(replace(spec.kernel, name=named).build)
    except InputError as error:
        build = f", build {build_id[:12]}" if is_ours else ""
        raise InputError(f"it was made by Linux {made.get('release')}{build}: {error}") from None
