"""The widgets of a question, which write the student's files as soon as something is set."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.lessons.check import WORDS
from wblab.lessons.lesson import Question
from wblab.lessons.notebook.desk import Desk
from wblab.lessons.notebook.keys import SCALES, Scale, typed, value_of
from wblab.lessons.notebook.shown import live

_WIDE = {"width": "auto", "max_width": "52em"}
_NARROW = {"width": "auto", "max_width": "36em"}
_LABEL = {"description_width": "initial"}

Write = Callable[[Any], None]  # what a student sets: an answer, or the value of a key, None to leave it out
Inputs = Callable[[Any, Write], Sequence[Any]]  # the widgets that show a value, and call what writes another


class AnswerWidget:
    """The inputs of one answer: that of a question, or a key of the spec that is changed for it."""

    def __init__(self, inputs: Inputs, value: object, write: Write) -> None:
        """write: called with what the student sets, and not with what is shown."""
        self.box = ipywidgets.VBox(layout=_WIDE)
        self._inputs, self._write = inputs, write
        self._fill(value)

    def show(self, value: object) -> None:
        """Show what the file says, without writing it."""
        if value != self._value:
            self._fill(value)

    def keep(self) -> None:
        """Let nothing else be set."""
        for each in self.box.children:
            each.disabled = True

    def _fill(self, value: object) -> None:
        self._value = value
        self.box.children = self._inputs(value, self._set)

    def _set(self, value: object) -> None:
        self._value = value
        self._write(value)


def of_key(key: str) -> Inputs:
    """Return the inputs of a key of a spec: a number where it has a scale with the value on it, else a text field."""
    scale = SCALES.get(key)

    def inputs(value: Any, write: Write) -> Sequence[Any]:
        if scale is not None and (value is None or scale.position(value) is not None):
            return _number(f"{key.partition('.')[2]} in {scale.unit}", scale, value, write)
        text = ipywidgets.Text(
            value="" if value is None else str(value), description=key, placeholder="not set",
            continuous_update=False, style=_LABEL, layout=_NARROW,
        )  # fmt: skip
        return _observed(text, lambda new: write(typed(new)))

    return inputs


def _number(name: str, scale: Scale, value: object, write: Write) -> Sequence[Any]:
    """Return a box to set a key, and its number. A slider of ipywidgets has no name for screen readers."""
    at = scale.start if value is None else scale.position(value)
    chosen = ipywidgets.Checkbox(value=value is not None, description=f"set {name}", indent=False, layout=_NARROW)
    number = ipywidgets.BoundedFloatText(
        value=at, min=scale.least, max=scale.most, step=scale.step, disabled=value is None,
        description=name, style=_LABEL, layout=_NARROW,
    )  # fmt: skip

    def changed(_: object) -> None:
        number.disabled = not chosen.value
        write(scale.write(number.value) if chosen.value else None)

    chosen.observe(changed, "value")
    number.observe(changed, "value")
    return chosen, number


def of_question(name: str, question: Question) -> Inputs:
    """Return the inputs of a question that is answered in words or by a number: buttons, or a text field."""
    label = f"your answer: {name}{f' in {question.unit}' if question.unit else ''}"

    def inputs(value: Any, write: Write) -> Sequence[Any]:
        if question.kind == "choice":
            options = [(words, option) for option, words in question.options.items()]
            chosen = value if value in question.options else None
            field = ipywidgets.RadioButtons(options=options, value=chosen, layout=_WIDE)
            field.add_class("wblab-choice")
        elif question.kind == "sentence":
            field = ipywidgets.Textarea(
                value=value, description=label, rows=4, continuous_update=False, style=_LABEL, layout=_WIDE
            )
            field.add_class("wblab-above")
        else:
            field = ipywidgets.Text(
                value=value, description=label, continuous_update=False, style=_LABEL,
                layout=_WIDE | {"max_width": "26em"},
            )  # fmt: skip
        return _observed(field, lambda new: write(str(new or "")))

    return inputs


def _observed(field: Any, write: Write) -> Sequence[Any]:
    field.observe(lambda change: write(change["new"]), "value")
    return (field,)


class QuestionWidget:
    """The widgets of one question. The answer is written as soon as it is given."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk, self._name, self._question = desk, name, desk.question(name)
        self._state = ipywidgets.HTML(layout=_WIDE)
        self._hint = ipywidgets.HTML(layout=_WIDE)
        self._answers = dict(self._answer_widgets())
        ask = ipywidgets.HTML(_ask(name, self._question), layout=_WIDE)
        inputs = [answer.box for answer in self._answers.values()]
        hints = [self._hint_button(), self._hint] if self._question.hints else []
        self.box = ipywidgets.VBox([ask, *inputs, self._state, *hints], layout=_WIDE | {"margin": "0 0 1em 0"})

    def refresh(self) -> None:
        """Show what the files and the last check say. Raises InputError."""
        values = self._values()
        for key, answer in self._answers.items():
            answer.show(values[key])
            if self._name in self._desk.kept():
                answer.keep()
        said = self._desk.says(self._name)
        if self._question.kind == "choice":  # its buttons show words, not names
            said = said.replace(f": not {values[self._name]}: ", ": ")
        self._say(said)

    def _values(self) -> dict[str, Any]:
        """Return what the files say: the values of the keys, or the answer by the name of the question."""
        if self._question.kind != "change":
            return {self._name: self._desk.answers().get(self._name, "")}
        table = self._desk.table(self._name)
        return {key: value_of(table, key) for key in self._question.allowed}

    def _answer_widgets(self) -> Iterator[tuple[str, AnswerWidget]]:
        desk, name = self._desk, self._name
        for key, value in self._values().items():
            if self._question.kind == "change":
                yield key, AnswerWidget(of_key(key), value, self._written(partial(desk.change, name, key)))
            else:
                inputs = of_question(name, self._question)
                yield key, AnswerWidget(inputs, value, self._written(partial(desk.answer, name)))

    def _written(self, write: Write) -> Write:
        """Return what writes a file, and says that it is written."""

        def written(value: Any) -> None:
            try:
                write(value)
            except WblabError as error:
                self._say(f"wblab: {error}")
            else:
                self._say("saved, not checked yet")

        return written

    def _say(self, text: str) -> None:
        word, colon, rest = printable(text).partition(":")
        is_word = word in (*WORDS.values(), "wblab")
        first = f"<strong>{escape(word)}</strong>" if is_word else escape(word)
        self._state.value = live(f'<p role="status">{first}{escape(colon + rest)}</p>')

    def _hint_button(self) -> Any:
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
