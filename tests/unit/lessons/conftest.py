"""A run whose figures a test chooses, in the place of a guest's."""

from types import SimpleNamespace

import pytest

from wblab.core.errors import WblabError
from wblab.lessons.figures import LessonFigures


@pytest.fixture
def make(monkeypatch):
    """Return what makes runs of the template's lesson: the pause is the file's size in MiB, by 10 s."""

    def make(spec):
        size_s = spec.load["l1"].size / (1 << 20) / 10
        if size_s > 10:
            raise WblabError("the guest hung")
        found = LessonFigures({"l1.longest_pause_s": size_s, "l1.paused_s": 3 * size_s})
        return SimpleNamespace(path="run", found=found, seed=spec.seed)

    monkeypatch.setattr("wblab.lessons.check.figures", lambda run: run.found)
    monkeypatch.setattr("wblab.lessons.check.digest", lambda run: f"digest {run.seed}")
    monkeypatch.setattr("wblab.lessons.check.made_with", lambda run: {"numbers": str(run.seed), "kernel builds": "a"})
    return make
