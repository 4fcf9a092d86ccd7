"""Programs of the distribution, and where they are."""

import os
import shutil


def tool_path(name: str) -> str | None:
    """Return where a program is, also in the system directories that an ordinary user's PATH leaves out.

    Of several paths to one directory (/bin, /usr/bin) always the same: the guest's memory holds this one.
    """
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]))
    return found and os.path.join(os.path.realpath(os.path.dirname(found)), os.path.basename(found))
