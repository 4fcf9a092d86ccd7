"""wblab: a laptop lab for Linux writeback lock-ups.

    import wblab

    run = wblab.run("base-device", set={"disk.queue.nr_requests": 4})
    run.pauses, run.why(), run.timeline()

Each name is imported when it is first used: `wblab --help` needs no NumPy. Type checkers read `__init__.pyi`. Guests
get another file in the place of this one (wblab/host/bundle.py).
"""

__version__ = "0.2.0"

# The public names, by the module that has them.
_MODULES = {
    "wblab.api.making": ("run", "run_study"),
    "wblab.api.opening": ("open", "read", "runs"),
    "wblab.api.recorded": ("Run", "Trace"),
    "wblab.api.explained": ("ExplainedPause", "Why"),
    "wblab.api.layered": ("Layers",),
    "wblab.api.compared": ("Comparison", "compare"),
    "wblab.api.several": ("Exploration", "Study"),
    "wblab.core.errors": ("InputError", "WblabError"),
    "wblab.core.spec": ("Spec",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module 'wblab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *(name for names in _MODULES.values() for name in names)])
