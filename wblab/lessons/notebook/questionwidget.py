"""The questions of a cell: static, and as widgets that write the student's files."""

from collections.abc import Callable
from html import escape
from typing import Any

from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.lessons.check import WORDS
from wblab.lessons.lesson import Question
from wblab.lessons.notebook.desk import Desk
from wblab.lessons.notebook.shown import Shown, live, said, together
from wblab.lessons.page import asked
from wblab.report.page import render

_WIDE = {"width": "auto", "max_width": "52em"}
_CLASSES = {"choice": "wblab-choice", "sentence": "wblab-above"}
_LABEL = {"description_width": "initial"}


def state(desk: Desk, name: str) -> str:
    """Return what the last check says of an answer: a word, and what is right or off."""
    if name not in desk.judged:
        return "kept" if name in desk.kept() else ""
    one = desk.judged[name]
    word = WORDS[one.outcome]
    return one.says if one.says.startswith(word) else f"{word}: {one.says}"


def static(desk: Desk, names: tuple[str, ...]) -> Shown:
    """Return the questions with their answers so far, for where no widget is shown. Raises InputError."""
    answers = desk.answers()
    return together(_static(desk, name, answers.get(name, "")) for name in names)


def _static(desk: Desk, name: str, answer: str) -> Shown:
    question = desk.question(name)
    html = render("wblab.lessons", "question.jinja", asked=asked(name, question))
    lines = [f"{name}: {question.ask}", *(f"  {option}: {words}" for option, words in question.options.items())]
    shown = [Shown(html, "\n".join(lines))]
    if answer.strip():
        shown.append(said(f"Your answer: {printable(answer)}"))
    if text := state(desk, name):
        shown.append(said(text))
    return together(shown)


class QuestionWidget:
    """The widgets of one question. The answer is written as soon as it is given."""

    def __init__(self, desk: Desk, name: str) -> None:
        import ipywidgets

        self._desk, self._name, self._question = desk, name, desk.question(name)
        self._state = ipywidgets.HTML(layout=_WIDE)
        self._filling = False
        self._hint = ipywidgets.HTML(layout=_WIDE)
        self._keys: dict[str, Any] = {}
        self._field: Any = None
        ask = ipywidgets.HTML(_ask(name, self._question), layout=_WIDE)
        inputs = self._key_widgets() if self._question.kind == "change" else [self._answer_widget()]
        hints = [self._hint_button(), self._hint] if self._question.hints else []
        self.box = ipywidgets.VBox([ask, *inputs, self._state, *hints], layout=_WIDE | {"margin": "0 0 1em 0"})

    def refresh(self) -> None:
        """Show what the files and the last check say. Raises InputError."""
        self._filling = True
        try:
            if self._question.kind == "change":
                table = self._desk.table(self._name)
                for key, widget in self._keys.items():
                    widget.show(_value_of(table, key))
            else:
                self._show_answer(self._desk.answers().get(self._name, ""))
        finally:
            self._filling = False
        said = state(self._desk, self._name)
        if self._question.kind == "choice":  # its buttons show words, not names
            said = said.replace(f": not {self._field.value}: ", ": ")
        self._say(said)

    def _answer_widget(self) -> Any:
        import ipywidgets

        kind, label = self._question.kind, f"your answer: {self._name}"
        if kind == "choice":
            options = [(words, option) for option, words in self._question.options.items()]
            self._field = ipywidgets.RadioButtons(options=options, value=None, layout=_WIDE)
        elif kind == "sentence":
            self._field = ipywidgets.Textarea(
                description=label, rows=4, continuous_update=False, style=_LABEL, layout=_WIDE
            )
        else:
            unit = f" in {self._question.unit}" if self._question.unit else ""
            self._field = ipywidgets.Text(
                description=f"{label}{unit}",
                continuous_update=False,
                style=_LABEL,
                layout=_WIDE | {"max_width": "26em"},
            )
        if kind in _CLASSES:
            self._field.add_class(_CLASSES[kind])
        self._field.observe(self._answered, "value")
        return self._field

    def _show_answer(self, answer: str) -> None:
        if self._question.kind == "choice":
            self._field.value = answer if answer in self._question.options else None
        else:
            self._field.value = answer
        self._field.disabled = self._name in self._desk.kept()

    def _key_widgets(self) -> list[Any]:
        from wblab.lessons.notebook.keys import KeyWidget

        table = self._desk.table(self._name)

        def writer(key: str) -> Callable[[Any], None]:
            return lambda value: self._written(lambda: self._desk.change(self._name, key, value))

        for key in self._question.allowed:
            self._keys[key] = KeyWidget(key, _value_of(table, key), writer(key))
        return [widget.box for widget in self._keys.values()]

    def _answered(self, change: Any) -> None:
        if not self._filling:
            answer = str(change["new"] or "")
            self._written(lambda: self._desk.answer(self._name, answer))

    def _written(self, write: Callable[[], None]) -> None:
        """Write a file, and say that it is written."""
        if self._filling:
            return
        try:
            write()
        except WblabError as error:
            self._say(f"wblab: {error}")
        else:
            self._say("saved, not checked yet")

    def _say(self, text: str) -> None:
        word, colon, rest = printable(text).partition(":")
        is_word = word in (*WORDS.values(), "wblab")
        first = f"<strong>{escape(word)}</strong>" if is_word else escape(word)
        self._state.value = live(f'<p role="status">{first}{escape(colon + rest)}</p>')

    def _hint_button(self) -> Any:
        import ipywidgets

        button = ipywidgets.Button(
            description=f"Hint for {self._name}", layout={"width": "auto", "align_self": "flex-start"}
        )
        button.on_click(lambda _: self._give_hint())
        return button

    def _give_hint(self) -> None:
        try:
            text = str(self._desk.hint(self._name))
        except WblabError as error:
            text = f"wblab: {error}"
        self._hint.value = live(f'<p role="status">{escape(printable(text))}</p>')


def _ask(name: str, question: Question) -> str:
    first = "<strong>Before the run:</strong> " if question.kind == "predict" else ""
    return live(f"<p><code>{escape(name)}</code>: {first}{escape(question.ask)}</p>")


def _value_of(table: dict[str, Any], key: str) -> object:
    from wblab.lessons.notebook.keys import value_of

    return value_of(table, key)
