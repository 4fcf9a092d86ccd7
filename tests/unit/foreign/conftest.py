from support.livelab import tracing

__all__ = ["tracing"]
