"""Who learns: the name and the course decide the seed and the numbers of each lesson."""

from dataclasses import dataclass
from hashlib import sha256
from string import Template
from typing import Any

from wblab.core.errors import InputError
from wblab.core.files import parse_toml
from wblab.core.tables import from_table
from wblab.lessons.lesson import LESSON, Lesson, Question

_MOST_SEED = 1_000_000


@dataclass(frozen=True)
class Student:
    """A student of a course. The same name in another course has other numbers."""

    name: str
    course: str = ""

    def seed_of(self, lesson: Lesson) -> int:
        """Return the seed of this student's runs of a lesson."""
        return 1 + self._drawn(lesson, "seed") % _MOST_SEED

    def values(self, lesson: Lesson) -> dict[str, str]:
        """Return what varies in a lesson, and the seed, as its texts name them."""
        drawn = {name: of[self._drawn(lesson, name) % len(of)] for name, of in lesson.vary.items()}
        return drawn | {"seed": str(self.seed_of(lesson)), "lesson": lesson.name}

    def questions(self, lesson: Lesson) -> dict[str, Question]:
        """Return a lesson's questions with this student's values. Raises InputError."""
        questions = self.table(lesson, LESSON)["question"]
        return {name: from_table(Question, one, f"question.{name}") for name, one in questions.items()}

    def table(self, lesson: Lesson, name: str) -> dict[str, Any]:
        """Return the table in one of a lesson's files with this student's values in it. Raises InputError."""
        try:
            return parse_toml(self.text(lesson, name).encode())
        except ValueError as error:
            raise InputError(f"{lesson.file(name)} is not TOML: {error}") from None

    def text(self, lesson: Lesson, name: str) -> str:
        """Return one of a lesson's texts with this student's values in the place of $name. Raises InputError."""
        try:
            return Template(lesson.read(name)).substitute(self.values(lesson))
        except (KeyError, ValueError) as error:
            raise InputError(f"{lesson.file(name)}: {error}: $ begins a name of vary; write $$ for a dollar") from None

    def _drawn(self, lesson: Lesson, what: str) -> int:
        text = "\0".join((self.course, self.name, lesson.name, what))
        return int.from_bytes(sha256(text.encode()).digest()[:8])
