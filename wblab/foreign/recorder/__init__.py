"""The recorder: a script for machines where nothing can be installed. It keeps what was traced around a stall."""

from importlib.resources import files

_FACTS_HERE = "@FACTS@\n"
_FUNCTION = "facts() {"
_AGAIN = "sleep 5; echo '==> /proc/diskstats <=='; cat /proc/diskstats # again: the rates of disks that are busy"


def facts_script() -> str:
    """Return a script of sh that prints what decides writeback on a machine."""
    return f"{_text('facts.sh')}facts\n{_AGAIN}\n"


def recorder_script() -> str:
    """Return the recorder, a script of sh; it collects the facts too."""
    facts = _text("facts.sh")
    return _text("recorder.sh").replace(_FACTS_HERE, facts[facts.index(_FUNCTION) :])


def _text(name: str) -> str:
    return (files(__name__) / name).read_text()
