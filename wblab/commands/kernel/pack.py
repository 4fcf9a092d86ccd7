"""wblab kernel pack."""

import argparse
import json
from pathlib import Path

from wblab.commands.common import add_json
from wblab.commands.kernel.info import add_kernel_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Pack a built kernel into one file for 'wblab kernel add' on another machine. Print the file's SHA-256 and "
        "name, as sha256sum does. The same kernel always gives the same file."
    )
    add_kernel_argument(parser)
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file: a tar archive, compressed with xz")
    add_json(parser)
    parser.set_defaults(run=_pack)


def _pack(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import built, values
    from wblab.kernels import carry
    from wblab.lab.printable import printable

    kernel = built(arguments.kernel)
    digest = carry.pack(kernel, arguments.file)
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), "sha256": digest, "kernel": values(kernel)}, indent=2))
    else:
        print(f"{digest}  {printable(str(arguments.file))}")
