"""Saving a figure to a file."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from wblab.core.errors import InputError, WblabError
from wblab.lab.held import replace_file

# Permitted suffixes, and the metadata fields in which Matplotlib would write the date.
FORMATS: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save(figure: Figure, title: str, path: Path) -> None:
    """Write a figure in the format of the suffix. Its metadata hold the title and no date.

    Raises InputError for another suffix, WblabError if the file cannot be written.
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
