"""wblab lesson start --list."""

import argparse
import json

from wblab.commands.common import add_json
from wblab.commands.lesson.options import add_folder, add_set, folder
from wblab.lab.tables import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "List the lessons, and how far you are."
    add_set(parser)
    add_folder(parser)
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    from wblab.lessons.folder import Progress
    from wblab.lessons.place import lessons_of

    where = folder(arguments)
    state = where.state() if where.begun() else None
    known = lessons_of(arguments.set or (state.set if state else ""))
    rows = []
    for lesson in known:
        progress = state.of(lesson) if state else Progress()
        begun = where.of(lesson).is_dir()
        how_far = f"solved {progress.solved}" if progress.solved else "begun" if begun else ""
        rows.append((lesson.name, lesson.title, lesson.minutes, how_far))
    if arguments.json:
        print(
            json.dumps([dict(zip(("name", "title", "minutes", "state"), row, strict=True)) for row in rows], indent=2)
        )
        return
    Table([(name, far, f"{minutes} min", title) for name, title, minutes, far in rows], ("lesson", "", "", "")).show()
