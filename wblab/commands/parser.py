"""Parsers of verbs: errors are one line, and a verb's module is loaded only when the verb is called."""

import argparse
import os
import textwrap
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from wblab.core.errors import InputError, nearest

_COLUMNS = 78
_ROOMS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Verb(NamedTuple):  # no dataclass: importing these would take a tenth of the time in which --help answers
    """A verb and what it does in a few words. group: its heading in the command's help.

    extras: optional packages that it needs, see `wblab.lab.extras`. often: most who call the command want it.
    forms: what it does instead with an option of that name, such as `wblab runs --clean`, and with options of its own.

    wing: the room that it is in, where it is not one of the lab's own: without that room there is no such verb.
    module: of a verb or form; the default has its name. Its `add_arguments(parser)` describes the verb and sets `run`,
    a function of the parsed arguments. Of `begin:next` in place of a module's name, `next_arguments` in `begin` does.
    """

    name: str
    help: str
    group: str = ""
    extras: tuple[str, ...] = ()
    often: bool = False
    forms: tuple[Any, ...] = ()
    module: str = ""
    wing: str = ""


class _Lines(argparse.HelpFormatter):
    """Help in which most options fit on one line of 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=27)


class RawLines(_Lines, argparse.RawDescriptionHelpFormatter):
    """The same, and texts before and after the options are printed as they are."""


class Parser(argparse.ArgumentParser):
    """A parser that raises InputError, and accepts no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**dict[str, Any](allow_abbrev=False, formatter_class=_Lines) | options)

    def error(self, message: str) -> NoReturn:
        """Raise InputError."""
        raise InputError(f"{message}: see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Suggest the nearest verb; the whole list is in --help."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"no verb {value!r}{nearest(str(value), list(action.choices))}")
        super()._check_value(action, value)


class VerbParser(Parser):
    """The parser of a verb. The verb's module is loaded and adds its arguments at first use.

    behind: as what the words behind -- are kept, unparsed; "" for a verb that has none, or parses them itself.
    """

    behind = ""

    def __init__(self, *, module: str, forms: Sequence[Verb] = (), **options: Any) -> None:
        super().__init__(**options)
        self._module = module
        self._within = False
        self._package = module.partition(":")[0].rpartition(".")[0]
        self._forms = {f"--{form.name}": form for form in forms if is_here(form)}

    def fill(self) -> None:
        """Load the module and add its arguments. Later calls do nothing."""
        if self._module:
            (module, _, name), self._module = self._module.partition(":"), ""
            getattr(import_module(module), f"{name or 'add'}_arguments")(self)
            if self._forms:
                group = self.add_argument_group("other forms, each with a --help of its own")
                for option, form in self._forms.items():
                    group.add_argument(option, action="store_true", help=form.help)
            self.usage = self.usage or usage(self)

    def form(self, option: str) -> "VerbParser":
        """Return the parser of a form of the verb."""
        form = self._forms[option]
        module = f"{_room(form, self._package)}.{form.module or form.name}"
        made = VerbParser(prog=f"{self.prog} {option}", module=module)
        if form.extras:
            made.set_defaults(extras=form.extras)
        return made

    @cached_property
    def forms(self) -> "list[VerbParser]":
        """The parsers of all forms of the verb."""
        return [self.form(option) for option in self._forms]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse what follows the verb; options may stand anywhere. Raises InputError, also for unknown arguments."""
        if self._within:  # argparse calls it again in each of its two passes
            return super().parse_known_args(args, namespace)
        given = list(args or ())
        own = given[: given.index("--")] if "--" in given else given
        if option := next((option for option in self._forms if option in own), None):
            given.remove(option)
            return self.form(option).parse_known_args(given, namespace)
        self.fill()
        self._within = True
        try:
            rest = given[len(own) + 1 :] if self.behind else []
            args = own if self.behind else args
            mixed = "--" not in (args or ()) and self._may_mix()
            parse = self.parse_known_intermixed_args if mixed else super().parse_known_args
            parsed, left = parse(args, namespace)
            if self.behind:
                setattr(parsed, self.behind, rest)
        finally:
            self._within = False
        if left:
            if self.behind and not left[0].startswith("-"):
                self.error(
                    f"{left[0]!r} is no argument: write the {self.behind} behind --, as in 'wblab ... -- {left[0]}'"
                )
            known = [spelling for action in self._actions for spelling in action.option_strings]
            self.error(f"unrecognized arguments: {' '.join(left)}{nearest(left[0], known)}")
        return parsed, left

    def _may_mix(self) -> bool:
        """Whether argparse can intermix: not with a remainder, nor with positional arguments that exclude options."""
        positional = [action for action in self._actions if not action.option_strings]
        alternatives = [action for group in self._mutually_exclusive_groups for action in group._group_actions]
        rests = (argparse.PARSER, argparse.REMAINDER)
        return not any(action.nargs in rests or action in alternatives for action in positional)


def add_verbs(parser: argparse.ArgumentParser, verbs: Sequence[Verb], package: str, *, required: bool = True) -> None:
    """Add verbs to a parser. package: where their modules are. required: the parser does nothing without one."""
    parsers = parser.add_subparsers(metavar="VERB", required=required, parser_class=VerbParser, help=argparse.SUPPRESS)
    verbs = [verb for verb in verbs if is_here(verb)]
    for verb in verbs:
        module = f"{_room(verb, package)}.{verb.module or verb.name}"
        made = parsers.add_parser(verb.name, help=verb.help, module=module, forms=verb.forms)
        if verb.extras:
            made.set_defaults(extras=verb.extras)
    parser.usage = f"{parser.prog} [-h] VERB ..." if required else f"{parser.prog} [-h] [VERB] ..."
    parser.description = textwrap.fill(parser.description or "", _COLUMNS)  # the list below it is printed as it is
    parser.formatter_class = RawLines
    parser.epilog = listing(verbs)


def is_here(verb: Verb) -> bool:
    """Whether the room that a verb is in is here."""
    return not verb.wing or os.path.isdir(f"{_ROOMS}/{verb.wing}")


def _room(verb: Verb, package: str) -> str:
    return f"wblab.{verb.wing}.verbs" if verb.wing else package


def listing(verbs: Sequence[Verb]) -> str:
    """Return the list of verbs, as text: those that are used often with what they do, the others by group."""
    shown = [verb for verb in verbs if verb.often] or verbs
    width = max(len(verb.name) for verb in shown)
    lines = ["used most:" if len(shown) < len(verbs) else "verbs:"]
    lines += [f"  {verb.name:{width}}  {verb.help}" for verb in shown]
    others: dict[str, list[str]] = {}
    for verb in verbs:
        if verb not in shown:
            others.setdefault(verb.group, []).append(verb.name)
    if others:
        width = max(map(len, others))
        lines += ["", "others (wblab VERB --help says what each does):"]
        lines += [f"  {group:{width}}  {', '.join(names)}" for group, names in others.items()]
    return "\n".join(lines)


def filled(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return a parser with all its verbs loaded and visible, to document or complete the whole command."""
    if isinstance(parser, VerbParser):
        parser.fill()
    for action in _verb_actions(parser):
        action.help = "a verb"
    for below in (*verbs_of(parser), *forms_of(parser)):
        filled(below)
    return parser


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and all below it."""
    yield parser
    for below in (*verbs_of(parser), *forms_of(parser)):
        yield from parsers(below)


def verbs_of(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of a parser's verbs."""
    return [below for action in _verb_actions(parser) for below in action.choices.values()]


def forms_of(parser: argparse.ArgumentParser) -> "list[VerbParser]":
    """Return the parsers of the other forms of a verb."""
    return parser.forms if isinstance(parser, VerbParser) else []


def _verb_actions(parser: argparse.ArgumentParser) -> "list[argparse._SubParsersAction[argparse.ArgumentParser]]":
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def usage(verb: argparse.ArgumentParser) -> str:
    """Return the usage of a verb on one line: its options are listed below it."""
    words = (_word(action) for action in shown(verb) if not action.option_strings)
    return " ".join([verb.prog, "[options]", *words])


def _word(action: argparse.Action) -> str:
    name = shown_name(action)
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def shown(verb: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a verb that its help shows, but --help."""
    hidden = argparse.SUPPRESS
    return [action for action in verb._actions if action.help != hidden and "--help" not in action.option_strings]


def shown_name(action: argparse.Action) -> str:
    """Return the placeholder of an argument's value."""
    if action.choices and not action.metavar:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or (action.dest.upper() if action.option_strings else action.dest))
