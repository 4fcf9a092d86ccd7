"""The wings: rooms that add to the lab, and without which it stands.

A wing imports the lab, and no other wing. Where the lab asks a wing for something, or a wing another one, it does so by
a name in this file, the only one that knows them. What belongs to a wing that is not here is left out, or refused in
one line. `tests/uml/test_wings.py` takes each one out of a copy and uses the lab.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from wblab.core.errors import InputError

WINGS = {
    "live": "this machine",
    "claims": "claims and findings",
    "lessons": "lessons",
    "publish": "packed files and sites",
    "foreign": "files of other machines",
    "on": "programs of one's own",
}
# What a wing offers: a module, and a name in it.
OFFERS = {
    "what describes a machine": ("wblab.live.twin.described", "machine_of"),
    "the claims among words": ("wblab.claims.sources.registry", "claims_among"),
    "what was tried elsewhere": ("wblab.claims.outside", "tried_outside"),
    "regions of pages": ("wblab.claims.pages.forms", "WHOLE"),
    "texts of lessons": ("wblab.lessons.page", "texts"),
    "opening packed files": ("wblab.publish.bundle.keep", "open_packed"),
    "a run of a packed file": ("wblab.publish.bundle.keep", "keep_run"),
    "a program's run made again": ("wblab.on.made", "again"),
    "a file of another machine explained": ("wblab.foreign.door", "explained"),
    "a timeline of a trace": ("wblab.foreign.tracepicture", "draw"),
    "the layers of a trace": ("wblab.foreign.tracelayers", "layered"),
    "what to draw of a trace": ("wblab.foreign.tracepicture", "Wanted"),
    "a recorder's file kept": ("wblab.foreign.kept", "opened"),
    "whether a file has a machine's facts": ("wblab.foreign.facts", "has_facts"),
    "the facts of another machine": ("wblab.foreign.facts", "read_facts"),
}


def offered(what: str) -> Any:
    """Return what a wing offers; None if that wing is not here."""
    module, name = OFFERS[what]
    return getattr(import_module(module), name) if find_spec(_room(module)) else None


def needed(what: str) -> Any:
    """Return what a wing offers. Raises InputError if that wing is not here."""
    found = offered(what)
    if found is None:
        wing = _room(OFFERS[what][0]).removeprefix("wblab.")
        raise InputError(f"this lab is without wblab/{wing} ({WINGS[wing]}): take one that has it")
    return found


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])
