"""For all tests: no time limits in property tests, since timings are never part of pass or fail."""

from hypothesis import settings

settings.register_profile("wblab", deadline=None)
settings.load_profile("wblab")
