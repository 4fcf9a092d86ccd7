"""How a figure becomes a file."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from wblab.core.errors import InputError, WblabError
from wblab.core.files import replace_file

# What a file's name may end in, and what Matplotlib would write into it of this day.
FORMATS: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save(figure: Figure, title: str, path: Path) -> None:
    """Write a figure; the suffix says how. Its metadata have the title, and nothing in it depends on the day.

    Raises InputError for another suffix, WblabError when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot draw {str(path)!r}: its name must end in {', '.join(FORMATS)}")
    try:
        # Without a salt the ids of an SVG's elements are random.
        with rc_context({"svg.hashsalt": title}), replace_file(path) as file:
            figure.savefig(file, format=suffix[1:], metadata={"Title": title} | FORMATS[suffix])
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None
