"""The widgets by which a spec is changed: a number for a threshold or the queue, a text field for any other key."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from wblab.lessons.check import parts
from wblab.lessons.notebook.scales import SCALES, Scale

_WIDE = {"width": "auto", "max_width": "36em"}
_LABEL = {"description_width": "initial"}

Write = Callable[[Any], None]  # the value of a key, None to leave it out


class KeyWidget:
    """The widget of one key of a spec. write: called with what the student sets."""

    def __init__(self, key: str, value: object, write: Write) -> None:
        self.box = ipywidgets.VBox(layout=_WIDE)
        self._key, self._write = key, write
        self._value: object = None
        self._fill(value)

    def show(self, value: object) -> None:
        """Show what the file says, without writing it."""
        if value != self._value:
            self._fill(value)

    def _fill(self, value: object) -> None:
        self._value = value
        scale = SCALES.get(self._key)
        if scale is None or (value is not None and scale.position(value) is None):
            self.box.children = (self._text(value),)
        else:
            self.box.children = self._number(scale, value)

    def _set(self, value: object) -> None:
        self._value = value
        self._write(value)

    def _text(self, value: object) -> Any:
        text = ipywidgets.Text(
            value="" if value is None else str(value), description=self._key, placeholder="not set",
            continuous_update=False, style=_LABEL, layout=_WIDE,
        )  # fmt: skip
        text.observe(lambda change: self._set(typed(change["new"])), "value")
        return text

    def _number(self, scale: Scale, value: object) -> tuple[Any, ...]:
        """Return a box to set the key, and its number. A slider of ipywidgets has no name for screen readers."""
        name = f"{self._key.partition('.')[2]} in {scale.unit}"
        at = scale.start if value is None else scale.position(value)
        chosen = ipywidgets.Checkbox(value=value is not None, description=f"set {name}", indent=False, layout=_WIDE)
        number = ipywidgets.BoundedFloatText(
            value=at, min=scale.least, max=scale.most, step=scale.step, disabled=value is None,
            description=name, style=_LABEL, layout=_WIDE,
        )  # fmt: skip

        def changed(_: object) -> None:
            number.disabled = not chosen.value
            self._set(scale.write(number.value) if chosen.value else None)

        chosen.observe(changed, "value")
        number.observe(changed, "value")
        return chosen, number


def typed(text: str) -> str | int | None:
    """Return the value that a text field stands for: None if it is empty, a whole number, or text.

    Hints show values as the file has them: text in quotes.
    """
    plain = text.strip().removeprefix('"').removesuffix('"').strip()
    if not plain:
        return None
    return int(plain) if plain.isascii() and plain.isdigit() else plain


def value_of(table: Mapping[str, Any], key: str) -> object:
    """Return the value of a key in a spec's table; None if it has none."""
    within: Any = table
    for part in parts(key):
        within = within.get(part) if isinstance(within, Mapping) else None
    return within
