"""Lessons as notebooks: made from a lesson's files, and what their cells call."""

from wblab.lessons.notebook.lessonwidget import here

__all__ = ["here"]
