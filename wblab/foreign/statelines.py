"""The lines of a text that shows the state of a machine, each with the file of /proc or /sys that it is of.

People paste such files in many ways: below a heading of `head` or of the lab's facts.sh, below a prompt with `cat`,
with the name before each line as `grep .` prints it, or as they are. All of these give the same lines here.
"""

import re
from collections.abc import Iterator
from itertools import islice

from wblab.foreign.plaintext import lines_of

MOST_LINES, MOST_LETTERS = 200_000, 20_000
_HEADING = re.compile(r"==> (/(?:proc|sys)/\S{1,200}) <==")
_PROMPT = re.compile(
    r"(?:\S{1,80}\s*)?[#$%>]\s?(?:sudo )?(?:cat|head|tail|more) (?:-\S+ )*(/(?:proc|sys)/[^\s*?\[]{1,200})$"
)
_ANY_PROMPT = re.compile(r"\S{1,80}[@:~]\S{0,80}[#$%]\s|[#$] \S")
_GREPPED = re.compile(r"(/(?:proc|sys)/[^\s:*]{1,160}(?::\d{1,3})?[^\s:*]{0,60}):\s?(.*)")
_QUOTE = re.compile(r"(?:>\s?)+")
_CODE = re.compile(r"```\w*|~~~\w*|<pre>|</pre>|</?code>|\[/?code\]", re.IGNORECASE)
_OF_ONE_VALUE = re.compile(r"/proc/sys/|/sys/")


def state_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line of a text, without what quotes it, and the file that it is of; "" if that is not known."""
    path = ""
    for given in islice(lines_of(text, MOST_LETTERS), MOST_LINES):
        line = given.rstrip()
        if line.startswith(">"):
            line = line[_QUOTE.match(line).end() :]  # type: ignore[union-attr]
        bare = line.strip()
        if found := _HEADING.fullmatch(bare) or _PROMPT.fullmatch(bare):
            path = found[1]
        elif bare.startswith(("/proc/", "/sys/")) and (found := _GREPPED.fullmatch(bare)):
            yield found[1], found[2]
        else:
            if _CODE.fullmatch(bare) or _ANY_PROMPT.match(bare):
                path = ""
            yield path, line
            if bare and path and _OF_ONE_VALUE.match(path):
                path = ""
