"""The one error of this package."""


class TraceError(ValueError):
    """A trace.dat cannot be read: what is wrong with it, or which unsupported feature it uses."""
