"""The one error of this package."""


class TraceError(ValueError):
    """A trace.dat cannot be read: what is wrong with it, or which of its features this reader refuses."""
