"""A student at a lesson: the answers written and checked, the runs found again. It knows no notebook."""

from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tomlkit import TOMLDocument, dumps, inline_table, parse, table
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError, nearest
from wblab.core.files import parse_toml
from wblab.core.spec import Spec
from wblab.kernels import KernelResolver, built_kernels
from wblab.lab.progress import Report, bar
from wblab.lessons.check import WORDS, Checked, Make, changed_spec, checked, maker, parts, patched, specs
from wblab.lessons.folder import ANSWER, RUNS
from wblab.lessons.judge import JudgedAnswer
from wblab.lessons.lesson import EXPLANATION, Question
from wblab.lessons.runs import spec
from wblab.lessons.sections import Hint, next_hint
from wblab.lessons.whereabouts import LessonPlace
from wblab.study.once import found

# A student's TOML files with one value changed. Comments, order and layout stay as they were written.


def with_answer(text: str, question: str, answer: str) -> str:
    """Return a file of answers with one of them replaced. Raises InputError for a file that is no TOML."""
    document = _parsed(text)
    document[question] = answer
    return _written(document, _plain(text) | {question: answer})


def with_changes(text: str, changes: Mapping[str, Any]) -> str:
    """Return a spec with keys changed, as load.l1.idle or sysctl.vm.dirty_bytes; None leaves a key out.

    Raises InputError for a file that is no TOML, or that cannot be changed in this way.
    """
    document = _parsed(text)
    for key, value in changes.items():
        _change(document, key, value)
    return _written(document, patched(_plain(text), changes))


def _change(document: TOMLDocument, key: str, value: object) -> None:
    *parents, last = parts(key)
    within: Any = document
    for parent in parents:
        if parent not in within:
            if value is None:
                return
            within[parent] = inline_table() if isinstance(within, InlineTable) else table()
        within = within[parent]
        if not isinstance(within, MutableMapping):
            raise InputError(f"{parent} is no table")
    if value is None:
        within.pop(last, None)
    else:
        within[last] = value


def _parsed(text: str) -> TOMLDocument:
    try:
        return parse(text)
    except (TOMLKitError, ValueError) as error:
        raise InputError(f"it is not TOML: {error}") from None


def _plain(text: str) -> dict[str, Any]:
    try:
        return parse_toml(text.encode())
    except ValueError as error:
        raise InputError(f"it is not TOML: {error}") from None


def _written(document: TOMLDocument, wanted: Mapping[str, Any]) -> str:
    """Return the text of a document. It must hold what was wanted, and nothing else may have changed."""
    text = dumps(document)
    if _without_empty(_plain(text)) != _without_empty(wanted):
        raise InputError("it cannot be changed from here: change it in an editor")
    return text


def _without_empty(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested tables without those that hold nothing."""
    found = {key: _without_empty(value) if isinstance(value, Mapping) else value for key, value in given.items()}
    return {key: value for key, value in found.items() if value != {}}


Progress = Callable[[str], AbstractContextManager[Report]]
Maker = Callable[[LessonPlace, Progress], Make]
Found = Callable[[Spec, Path, KernelResolver], Run | None]


class Desk:
    """A student at one lesson. The files are read anew each time: the terminal writes the same ones."""

    def __init__(self, at: LessonPlace, maker: Maker = maker, found: Found = found) -> None:
        """maker: makes the runs of a place. found: finds a run of a spec again, if it was made."""
        self._at, self._maker, self._found = at, maker, found
        self.questions = at.state.who.questions(at.lesson)
        self.judged: dict[str, JudgedAnswer] = {}  # of the last check, without what was answered since

    @property
    def at(self) -> LessonPlace:
        """Where the student is now. Raises InputError."""
        return replace(self._at, state=self._at.folder.state())

    def question(self, name: str) -> Question:
        """Return a question. Raises InputError for an unknown one."""
        if name not in self.questions:
            raise InputError(f"no question {name!r} in this lesson{nearest(name, list(self.questions))}")
        return self.questions[name]

    def kept(self) -> dict[str, str]:
        """Return the predictions, once they are kept. Raises InputError."""
        return self.at.state.of(self._at.lesson).expected

    def answers(self) -> dict[str, str]:
        """Return the answers as text; a prediction that is kept as it was. Raises InputError."""
        at = self.at
        return {name: str(answer) for name, answer in at.folder.answers(at.lesson).items()} | self.kept()

    def table(self, name: str) -> dict[str, Any]:
        """Return the spec that is changed for a question. Raises InputError."""
        return self._at.folder.table(self._at.lesson, name)

    def answer(self, name: str, text: str) -> None:
        """Write an answer. Raises InputError; also for a prediction once it is kept."""
        question = self.question(name)
        if question.kind == "change":
            raise InputError(f"{name} is answered by a change of {name}.toml")
        if name in self.kept():
            raise InputError("the prediction is kept as it was before the run")
        self._at.folder.edit(self._at.lesson, ANSWER, partial(with_answer, question=name, answer=text))
        self.judged.pop(name, None)

    def change(self, name: str, key: str, value: Any) -> None:
        """Change a key of the spec of a question; None leaves it out. Raises InputError for one that is not allowed."""
        question = self.question(name)
        if key not in question.allowed:
            allowed = f"change only {', '.join(question.allowed)}" if question.allowed else "it asks for no change"
            raise InputError(f"{name}: {key!r} must stay as it was: {allowed}")
        self._at.folder.edit(self._at.lesson, f"{name}.toml", partial(with_changes, changes={key: value}))
        self.judged = {
            each: one for each, one in self.judged.items() if name not in (each, self.questions[each].of)
        }  # fmt: skip

    def check(self, progress: Progress = bar) -> Checked:
        """Check all answers, as `wblab lesson check` does. Raises WblabError."""
        at = self.at
        _, result = checked(at, self._maker(at, progress))
        self.judged = {one.question: one for one in result.judged}
        return result

    def says(self, name: str) -> str:
        """Return what the last check says of an answer: a word, and what is right or off. Raises InputError."""
        if name not in self.judged:
            return "kept" if name in self.kept() else ""
        one = self.judged[name]
        word = WORDS[one.outcome]
        return one.says if one.says.startswith(word) else f"{word}: {one.says}"

    def hint(self, name: str) -> Hint:
        """Return the next hint for a question. Raises InputError."""
        _, hint = next_hint(self.at, name)
        return hint

    def run(self, of: str = "") -> Run | None:
        """Return the student's run, or that of a change, if it was made. Raises InputError."""
        at = self._at
        wanted = changed_spec(at.lesson, at.state.who, of, self.table) if of else spec(at.lesson, at.state.who)
        return self._found(wanted, at.folder.path / RUNS, built_kernels()) if wanted else None

    def runs(self) -> dict[str, list[Run]]:
        """Return the runs that were made of each spec, by its file, one for each seed. Raises InputError."""
        at, resolve = self._at, built_kernels()
        every = specs(at.lesson, at.state.who, self.table)
        made = {file: [self._found(one, at.folder.path / RUNS, resolve) for one in wanted] for file, wanted in every}
        return {file: there for file, runs in made.items() if (there := [run for run in runs if run])}

    def explanation(self) -> str:
        """Return the explanation; empty before the lesson is solved. Raises InputError."""
        at = self.at
        return at.state.who.text(at.lesson, EXPLANATION) if at.state.of(at.lesson).solved else ""
