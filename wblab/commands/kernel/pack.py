"""wblab kernel pack and add: a built kernel, moved between machines."""

import argparse
import json
import shlex
from pathlib import Path

from wblab.commands.common import add_json, note
from wblab.commands.kernel.info import add_kernel_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Add a kernel from a file of 'wblab kernel pack' to the cache, and print its path. If this checkout has the "
        "same source, patches and options, it uses this kernel and builds none. Runs execute a kernel as you, confined "
        "like every guest. The lab cannot check what a kernel was really built from: add only kernels from people you "
        "trust, and give the digest that they printed."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a packed kernel")
    parser.add_argument("--sha256", type=_digest, metavar="DIGEST", help="refuse a file with another SHA-256")
    add_json(parser)
    parser.set_defaults(run=_add)


def _digest(text: str) -> str:
    if len(text) != 64 or set(text.lower()) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a SHA-256: give 64 digits of 0-9 and a-f")
    return text.lower()


def _add(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import values
    from wblab.kernels import carry

    added = carry.add(arguments.file, note, digest=arguments.sha256)
    path = added.kernel.path
    if added.name is None:
        option = shlex.join(["--kernel", str(path)])
        note(f"this checkout builds {added.kernel.series} differently: to run the added kernel, give {option}")
    if arguments.json:
        print(json.dumps(values(added.kernel) | {"name": added.name}, indent=2))
    else:
        print(f"Linux {added.kernel.release}{f', {added.name}' if added.name else ''}: {path}")


def pack_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.commands.kernel.info import built, check_target, values
    from wblab.kernels import carry
    from wblab.lab.printable import printable

    check_target(arguments.file, "pack {} FILE")
    kernel = built(arguments.kernel)
    digest = carry.pack(kernel, arguments.file)
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), "sha256": digest, "kernel": values(kernel)}, indent=2))
    else:
        print(f"{digest}  {printable(str(arguments.file))}")
