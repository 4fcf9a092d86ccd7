"""What the cells of a lesson's notebook call."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any, Concatenate, ParamSpec

from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.lab.progress import Report
from wblab.lessons.check import WORDS, Checked
from wblab.lessons.markdown import to_html
from wblab.lessons.notebook.desk import Desk
from wblab.lessons.notebook.looks import SERIES, looked
from wblab.lessons.notebook.shown import Shown, block, has_widgets, live, put, said, together
from wblab.lessons.page import asked
from wblab.lessons.sections import SectionLook
from wblab.lessons.whereabouts import folder_here, place_in
from wblab.report.page import render

_P = ParamSpec("_P")


class CannotBeginError(InputError):
    """The lesson cannot be opened here. A notebook shows its one line, and runs no other cell."""

    def _render_traceback_(self) -> list[str]:
        return [printable(f"wblab: {self}")]


def here(name: str) -> "NotebookLesson":
    """Return a lesson in the student's folder around this directory. Raises CannotBeginError."""
    try:
        lesson = NotebookLesson(Desk(place_in(folder_here(), name)))
    except InputError as error:
        raise CannotBeginError(str(error)) from None
    return lesson


def _plainly(method: Callable[Concatenate["NotebookLesson", _P], None]) -> Callable[..., None]:
    """Return a method that shows a mistake or a failure as one line."""

    @wraps(method)
    def shown(self: "NotebookLesson", *arguments: _P.args, **options: _P.kwargs) -> None:
        try:
            method(self, *arguments, **options)
        except WblabError as error:
            put(said(f"wblab: {error}"))

    return shown


class NotebookLesson:
    """A lesson in a notebook."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._refresh: dict[Hashable, Callable[[], None]] = {}  # by what a cell shows: run again, it replaces its own
        self._checks: dict[Hashable, tuple[Any, Any]] = {}  # the button and the line beside it

    def __repr__(self) -> str:
        at = self._desk.at
        return f"{at.lesson.name}: {at.lesson.title}, {at.lesson.minutes} minutes"

    @_plainly
    def ask(self, *names: str) -> None:
        """Show questions, to be answered and checked."""
        answers = self._desk.answers()
        shown = together(_asked(self._desk, name, answers.get(name, "")) for name in names)
        if not has_widgets():
            put(shown)
            return
        import ipywidgets

        from wblab.lessons.notebook.questionwidget import QuestionWidget

        widgets = [QuestionWidget(self._desk, name) for name in names]

        def refresh() -> None:
            for widget in widgets:
                widget.refresh()

        refresh()
        self._refresh[names] = refresh
        button = ipywidgets.Button(description="Check", button_style="primary", tooltip="make your runs, and compare")
        button.on_click(lambda _: self._pressed(names))
        line = ipywidgets.HTML(layout={"max_width": "52em"})
        self._checks[names] = button, line
        put(shown, ipywidgets.VBox([*(widget.box for widget in widgets), button, line]))

    @_plainly
    def pauses(self, of: str = "") -> None:
        """Show the table of pauses of your run, or of the one that you changed for a question."""
        self._look(SectionLook("pauses", of))

    @_plainly
    def timeline(self, of: str = "", around: str = "") -> None:
        """Show the picture of a run, or its part around a load's longest pause."""
        self._look(SectionLook("timeline", of, around))

    @_plainly
    def why(self, of: str = "", *, evidence: bool = False, load: str = "") -> None:
        """Show what each pause of a run, or of one of its loads, was.

        evidence: with the kernel's functions and the trace's events.
        """
        self._look(SectionLook("why", of, evidence=evidence, load=load))

    @_plainly
    def printed(self, words: str, of: str = "") -> None:
        """Show what the programs of a run printed: lines with these words."""
        self._look(SectionLook("printed", of, words=words))

    @_plainly
    def seeds(self, load: str) -> None:
        """Show the longest pause of a load in each run of each spec."""
        self._look(SectionLook("seeds", load=load))

    @_plainly
    def compare(self, by: str, load: str = "", metric: str = "") -> None:
        """Show what runs that differ in a key of the spec differ by."""
        self._look(SectionLook("compare", load=load, metric=metric, by=by))

    @_plainly
    def explanation(self) -> None:
        """Show the explanation, once the lesson is solved."""
        self._show("explanation", self._explained)

    @_plainly
    def answer(self, /, **answers: str) -> None:
        """Write answers, as the widgets do."""
        for name, text in answers.items():
            self._desk.answer(name, str(text))
        self._refresh_all()

    @_plainly
    def change(self, question: str, values: Mapping[str, Any]) -> None:
        """Change keys of the spec of a question, as the widgets do. values: by key, such as load.l1.idle."""
        for key, value in values.items():
            self._desk.change(question, key, value)
        self._refresh_all()

    @_plainly
    def check(self) -> None:
        """Check all answers, and show what is said of each."""
        result = self._desk.check()
        lines = [f"{one.question}: {self._desk.says(one.question)}" for one in result.judged]
        put(block([*lines, _summary(result)]))
        self._refresh_all()

    def _look(self, look: SectionLook) -> None:
        if look.of:
            self._desk.question(look.of)
        self._show(look, lambda: self._looked(look))

    def _looked(self, look: SectionLook) -> Shown:
        try:
            if look.view in SERIES and (runs := self._desk.runs()):
                return SERIES[look.view](runs, look)
            if (run := self._desk.run(look.of)) is not None:
                return looked(run, look)
        except WblabError as error:
            return said(f"wblab: {error}")
        if look.of:
            return said(f"No run yet: change {look.of}, and press Check. Then it is shown here.")
        return said("No run yet: write down what you expect, and press Check. Then it is shown here.")

    def _explained(self) -> Shown:
        text = self._desk.explanation()
        return Shown(to_html(text, lower=2), text) if text else said("Not solved yet: the explanation is shown then.")

    def _show(self, key: Hashable, make: Callable[[], Shown]) -> None:
        """Show what changes with a check."""
        shown = make()
        if not has_widgets():
            put(shown)
            return
        import ipywidgets

        widget = ipywidgets.HTML(live(shown.html), layout={"width": "auto"})

        def refresh() -> None:
            widget.value = live(make().html)

        self._refresh[key] = refresh
        put(shown, widget)

    def _refresh_all(self) -> None:
        for refresh in self._refresh.values():
            refresh()

    def _pressed(self, names: Hashable) -> None:
        """Check, and say beside the button how far it is and what came out."""
        line = self._checks[names][1]
        for _, other in self._checks.values():  # what an earlier check found there
            other.value = ""
        self._enable(False)

        def say(text: str) -> None:
            line.value = live(f'<p role="status">{escape(printable(text))}</p>')

        @contextmanager
        def progress(title: str) -> Iterator[Report]:
            yield lambda share, text: say(f"{title}: {text}")

        try:
            say("Checking …")
            result = self._desk.check(progress)
            say("Reading the runs …")
            self._refresh_all()
            say(_summary(result))
        except WblabError as error:
            say(f"wblab: {error}")
        finally:
            self._enable(True)

    def _enable(self, enabled: bool) -> None:
        for button, _ in self._checks.values():
            button.disabled = not enabled


def _summary(result: Checked) -> str:
    """Return what a check found, in a line."""
    if result.run is None and any(one.outcome == "wrong" for one in result.judged):
        return "What you expect is no number yet: see the question. Then Check makes your run."
    if result.run is None:
        return "First write down what you expect. Then Check makes your run."
    if result.solved:
        return "Solved. Read why at the end of the notebook. The next lesson: wblab lesson start --next"
    counts = {word: sum(WORDS[one.outcome] == word for one in result.judged) for word in ("right", "not yet", "open")}
    return f"{', '.join(f'{count} {word}' for word, count in counts.items() if count)}."


def _asked(desk: Desk, name: str, answer: str) -> Shown:
    """Return a question with its answer so far, for where no widget is shown. Raises InputError."""
    question = desk.question(name)
    html = render("wblab.lessons", "question.jinja", asked=asked(name, question))
    lines = [f"{name}: {question.ask}", *(f"  {option}: {words}" for option, words in question.options.items())]
    shown = [Shown(html, "\n".join(lines))]
    if answer.strip():
        shown.append(said(f"Your answer: {printable(answer)}"))
    if text := desk.says(name):
        shown.append(said(text))
    return together(shown)
