"""Code on pages, with its parts coloured by Pygments: the classes of site.css, no styles within.

A fenced block may name its language. Of the others, what reads as TOML or Python is that, and what begins as a command
is for a shell; outputs and tables stay as they are.
"""

import ast
import re
import tomllib
from collections.abc import Callable
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_COMMAND = re.compile(r"(?:sudo|make|wblab|pipx?|uv|python3?|git|cd|echo|sysctl|docker|podman|\S*/[\w.-]+)(?:\s|$)")
_DOES = (ast.Import, ast.ImportFrom, ast.Assign, ast.For, ast.With, ast.FunctionDef, ast.ClassDef)
_PLAIN = "text"


def shown(code: str, language: str, told: Callable[[str], None]) -> str:
    """Return code as HTML. language: '' where it is not said. told: of a language that is not known."""
    name = language or _guessed(code)
    try:
        lexer = get_lexer_by_name(name, stripnl=False)
    except ClassNotFound:
        told(f"there is no language {language!r} for code")
        return _framed(escape(code))
    return _framed(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def _framed(html: str) -> str:
    return f'<pre tabindex="0"><code>{html}</code></pre>\n'


def _guessed(code: str) -> str:
    """Return the language of code that does not say it."""
    if _COMMAND.match(code):
        return "bash"
    try:
        if tomllib.loads(code):
            return "toml"
    except tomllib.TOMLDecodeError:
        pass
    try:
        steps = ast.parse(code).body
    except (SyntaxError, ValueError):
        return _PLAIN
    is_python = any(isinstance(step, _DOES) or _is_call(step) for step in steps)
    return "python" if is_python else _PLAIN


def _is_call(step: ast.stmt) -> bool:
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Call)
