"""The lessons in the site: what each teaches, and its text. Questions come with `wblab lesson start`."""

from collections.abc import Iterator

from wblab.lessons.lesson import TEXT, Lesson, lessons
from wblab.lessons.markdown import to_html
from wblab.lessons.runs import Student
from wblab.publish.site.page import LESSONS, File, Link, list_page, page

# A text has the numbers of one student. Everybody who starts the lesson has others.
_READER = Student("a reader")


def lesson_pages() -> Iterator[File]:
    """Yield a page for each lesson, and the page that lists them. Raises InputError."""
    found = lessons()
    for lesson in found:
        text = to_html(_READER.text(lesson, TEXT))
        yield page(_address(lesson), lesson.title, "lesson.html", lesson=lesson, text=text)
    links = [
        Link(f"{lesson.name[:2].lstrip('0')}. {lesson.title}", _address(lesson), _about(lesson)) for lesson in found
    ]
    yield list_page(LESSONS, "Lessons", links, "Learn writeback by experiments of your own, from what a page cache is.")


def _address(lesson: Lesson) -> str:
    return f"lessons/{lesson.name}.html"


def _about(lesson: Lesson) -> str:
    return f"{lesson.minutes} minutes. {' '.join(lesson.teaches)}"
