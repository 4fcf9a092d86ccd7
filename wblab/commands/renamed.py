"""The verbs of version 0.1, as today's command lines. They stay for one version."""

from collections.abc import Callable, Mapping, Sequence

Words = list[str]

# What the first word, or the first two, became.
_NOW: Mapping[str, str] = {
    "rerun": "repeat",
    "golden": "repeat golden",
    "pauses": "why --pauses",
    "layers": "why --layers",
    "clean": "runs --clean",
    "site": "pack --site",
    "merge": "study --merge",
    "ab": "study --kernels",
    "matrix": "study",
    "reference": "--reference",
    "completion": "--completion",
    "finding run": "study",
    "kernel stock": "kernel build --stock",
    "kernel source": "kernel info --source",
    "lesson list": "lesson start --list",
    "lesson next": "lesson start --next",
    "lesson reset": "lesson start --anew",
    "lesson notebook": "lesson show --notebook",
    "lesson page": "lesson show --page",
    "lesson pictures": "lesson show --pictures",
}


def renamed(given: Sequence[str]) -> Words:
    """Return a command line with the verbs of today; one that has them already is returned as it is."""
    words = list(given)
    if words[0] in _CHANGED:
        return _CHANGED[words[0]](words[1:])
    for count in (2, 1):
        if now := _NOW.get(" ".join(words[:count])):
            return [*now.split(), *words[count:]]
    return words


def _options(words: Words, changed: Mapping[str, str]) -> Words:
    """Return words with other names of options; `--option=value` is one word."""
    names = (word.partition("=") for word in words)
    return [changed.get(name, name) + equals + value for name, equals, value in names]


def _plain(words: Words, taking: Sequence[str]) -> tuple[Words, Words]:
    """Return the words that are no options, and the others. taking: options whose next word is their value."""
    plain, others = [], []
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            others.append(word)
            if word in taking:
                others += [next(rest, "")]
        else:
            plain.append(word)
    return plain, others


_VALUES = (
    "--seeds",
    "--kernel",
    "--jobs",
    "--cluster",
    "--shard",
    "--exp",
    "--resume",
    "--set",
    "--tree",
    "--base",
    "-o",
)


def _export(words: Words) -> Words:
    return ["timeline", "--format", "perfetto-trace", *(word for word in words if word not in ("--format", "perfetto"))]


def _audit(words: Words) -> Words:
    return ["repeat", *_options(words, {"--seed": "--choice"})]


def _open(words: Words) -> Words:
    if "--repeat" not in words:
        return ["open", *words]
    return ["repeat", *(word for word in words if word not in ("--repeat", "--keep"))]


def _verify(words: Words) -> Words:
    claims, others = _plain(words, (*_VALUES, "--source", "--format"))
    work = _taken(others, "--source")
    _taken(others, "--format")
    named = [] if (claims and not work) or _is_resumed(others) else [work or "thesis"]
    return ["study", *named, *claims, *others]


def _trial(words: Words) -> Words:
    numbers, others = _plain(words, (*_VALUES, "--file"))
    file = _taken(others, "--file")
    return ["study", *([] if _is_resumed(others) else [file or "folk-wisdom"]), *numbers, *others]


def _is_resumed(words: Words) -> bool:
    return any(word.startswith("--resume") for word in words)


def _atlas(words: Words) -> Words:
    words = _options(words, {"--series": "--kernel"})
    sources = []
    while source := _taken(words, "--source"):
        sources.append(source)
    return ["study", "atlas", *sources, *words]


def _witness(words: Words) -> Words:
    is_said = any(word.startswith(("--on", "--resume")) for word in words)
    return ["study", *words, *([] if is_said else ["--on", "all"])]


def _explore(words: Words) -> Words:
    if any(word.startswith("--row") for word in words):
        return ["repeat", *_options(words, {"--row": "--run"})]
    return ["study", *words]


def _twin(words: Words) -> Words:
    place = _taken(words, "--from-host")
    return ["study", *([f"here:{place}"] if place else []), *words]


def _taken(words: Words, option: str) -> str:
    """Take an option and its value out of words, and return the value; empty if it is not there."""
    for at, word in enumerate(words):
        if word == option and at + 1 < len(words):
            value = words[at + 1]
            del words[at : at + 2]
            return value
        if word.startswith(f"{option}="):
            del words[at]
            return word.partition("=")[2]
    return ""


_CHANGED: Mapping[str, Callable[[Words], Words]] = {
    "export": _export,
    "audit": _audit,
    "open": _open,
    "verify": _verify,
    "trial": _trial,
    "atlas": _atlas,
    "witness": _witness,
    "explore": _explore,
    "twin": _twin,
}
