"""Text of somebody else made fit for a terminal: names of processes and loads, reasons, paths."""


def printable(text: str) -> str:
    r"""Return `text` on one line, with what a terminal would act on shown as an escape: \x1b, \n, \u202e.

    These are control characters (C0, C1), line and paragraph separators, format characters (the bidirectional ones
    among them), and the surrogates by which Python stands for bytes that are not UTF-8. All else stays as it is.
    """
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
