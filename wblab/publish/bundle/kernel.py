"""The kernel that repeats a run from elsewhere: the same build if it is here, else one of the same series."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.kernels import Kernel, built_kernel
from wblab.kernels.build import result
from wblab.kernels.kernel import load
from wblab.kernels.processors import on_processors
from wblab.lab.kernelname import processors_in

_BUILD_ID = re.compile(r"[0-9a-f]{64}")
_SERIES = re.compile(r"\d{1,4}\.\d{1,4}")


def kernel_for(spec: Spec, made: Mapping[str, Any]) -> Kernel:
    """Return the kernel for a repetition. A record may choose among the lab's builds here, and no other program.

    made: the record of the kernel that the run had. Raises InputError, with what to run, if it is not built here.
    """
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
