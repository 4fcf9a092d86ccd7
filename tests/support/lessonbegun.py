"""A lesson with a question of each kind, begun by a student."""

import shutil
from pathlib import Path

from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.lesson import EXPLANATION, LESSON, TEMPLATE, TEXT, read_lesson
from wblab.lessons.whereabouts import LessonPlace

QUESTIONS = """
[question.which]
kind = "choice"
ask = "Which one <b>stalls</b>?"
right = "l1"

[question.which.options]
l1 = "l1, which writes"
c1 = "c1, which sleeps"

[question.why]
kind = "sentence"
ask = "Why?"
cites = ["l1.longest_pause_s"]
names = { "the disk" = ["disk"] }
hints = ["First hint.", "Second hint."]

[question.smaller]
kind = "change"
ask = "Make it smaller."
allowed = ["load.l1.size", "sysctl.vm.dirty_bytes", "disk.queue.nr_requests"]

[[question.smaller.holds]]
figure = "l1.longest_pause_s"
most = "1s"
says = "the pause"

[question.shorter]
kind = "number"
ask = "How long is it then?"
of = "smaller"
figure = "l1.longest_pause_s"
unit = "s"
"""
EXTRA = """
Fill in `longest` and `which`.

## 3. Explain

    wblab why latest --exp ../exp
    wblab why latest --exp ../exp --evidence
    grep MiB ../exp/*01-mine*/console.log

It costs $$5 and $$6 <script>alert(1)</script> ![a picture](https://example.org/x.png) [no](javascript:alert(1)).

```
## no heading, $$1 <b>
```

## 4. Change

Change `smaller.toml`. Then:

    wblab run smaller.toml --exp ../exp
    wblab timeline latest --exp ../exp --around l1
    don't stumble "over this
"""


def begin(where: Path, student: str = "ada") -> LessonPlace:
    """Return where a student is who has begun the lesson."""
    path = shutil.copytree(TEMPLATE, where / "set" / "01-mine")
    (path / LESSON).write_text((path / LESSON).read_text() + QUESTIONS)
    (path / TEXT).write_text((path / TEXT).read_text() + EXTRA)
    (path / EXPLANATION).write_text("# Mine: why\n\nAs it is $size MiB.\n")
    lesson = read_lesson(path)
    state = LessonState(student, "os", str(where / "set"), lesson.name)
    folder = Folder(where / "mine")
    folder.start(lesson, state.who)
    folder.keep(state)
    return LessonPlace(folder, state, [lesson], lesson)
