"""The files of a served filesystem (FUSE): what its server answers to each request of the kernel.

The protocol is that of include/uapi/linux/fuse.h, version 7.31. Files have names, sizes and times and no content: what
is read back is zeros. So the server needs next to no memory, which is the loads'.
"""

import errno
import stat
import struct
from dataclasses import dataclass, field

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 9, 10, 11, 12
OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = 14, 15, 16, 17, 18, 20, 25, 26
OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT = 27, 28, 29, 30, 35, 36
BATCH_FORGET, FALLOCATE, RENAME2 = 42, 43, 45
UNANSWERED = (FORGET, BATCH_FORGET, INTERRUPT)
MOST_WRITE = 128 << 10  # bytes; the kernel's FUSE_DEFAULT_MAX_PAGES_PER_REQ of 32 pages
WRITE_IN_BYTES = 40  # of fuse_write_in, before the data

_MAJOR, _MINOR = 7, 31
# FUSE_ASYNC_READ, ATOMIC_O_TRUNC, BIG_WRITES, AUTO_INVAL_DATA, PARALLEL_DIROPS: what libfuse asks for by default.
_FLAGS = 1 << 0 | 1 << 3 | 1 << 5 | 1 << 12 | 1 << 18
_WRITEBACK_CACHE = 1 << 16
_VALID_S = 1  # for how long the kernel may believe names and attributes; libfuse's default
_ROOT, _BLOCK, _NAME_MAX = 1, 4096, 255
_SET_SIZE, _SET_MODE, _SET_MTIME = 1 << 3, 1 << 0, 1 << 5  # FATTR_
_O_TRUNC = 0o1000
_BY_CACHE = 1 << 0  # FUSE_WRITE_CACHE: pages of the cache, which the kernel writes on nobody's behalf
_EXCLUSIVE = 1  # RENAME_NOREPLACE

_ATTR = struct.Struct("<6Q10I")
_ENTRY = struct.Struct("<4Q2I")  # fuse_entry_out, without the attributes
_ATTR_HEAD = struct.Struct("<QQ")  # fuse_attr_out, without the attributes
_OPENED = struct.Struct("<QQ")
_STATFS = struct.Struct("<5Q10I")
_INIT = struct.Struct("<4I2H2I2H2I12H")
_WRITTEN = struct.Struct("<II")
_DIRENT = struct.Struct("<QQII")


@dataclass
class Node:
    """A file or a directory. names: a directory's entries. looked: how often the kernel was told of it."""

    number: int
    mode: int
    time_ns: int
    size: int = 0
    links: int = 1
    looked: int = 0
    names: dict[bytes, int] = field(default_factory=dict)

    @property
    def is_directory(self) -> bool:
        """Whether it has entries."""
        return stat.S_ISDIR(self.mode)


class Refused(Exception):  # noqa: N818 - the answer to a request, not a failure of the server
    """The answer to a request is this error number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Files:
    """All files, in the server's memory. size: of the filesystem in bytes; write_cache: the kernel may delay writes."""

    def __init__(self, size: int, *, write_cache: bool) -> None:
        self._size, self._used, self._write_cache = size, 0, write_cache
        self._nodes = {_ROOT: Node(_ROOT, stat.S_IFDIR | 0o755, 0, links=2, looked=1)}
        self._last = _ROOT

    def answer(self, code: int, number: int, body: memoryview, now_ns: int) -> bytes:  # noqa: PLR0911, PLR0912 - one for each request
        """Return what follows the header of the answer. number: the node's; now_ns: the wall clock. Raises Refused."""
        if code == INIT:
            return self._init(body)
        if code in UNANSWERED:
            return self._forget(code, number, body)
        node = self._node(number)
        if code == GETATTR:
            return self._attributes(node)
        if code == WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            return self._grow(node, offset + size, now_ns) or _WRITTEN.pack(size, 0)
        if code == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return bytes(max(0, min(size, node.size - offset)))
        if code == LOOKUP:
            return self._entry(self._named(node, bytes(body[:-1])))
        if code == CREATE:
            made = self._make(node, bytes(body[16:-1]), struct.unpack_from("<I", body, 4)[0], now_ns)
            return self._entry(made) + _OPENED.pack(0, 0)
        if code == MKDIR:
            mode = stat.S_IFDIR | struct.unpack_from("<I", body)[0]
            return self._entry(self._make(node, bytes(body[8:-1]), mode, now_ns))
        if code in (UNLINK, RMDIR):
            return self._remove(node, bytes(body[:-1]), is_directory=code == RMDIR)
        if code in (RENAME, RENAME2):
            return self._rename(node, body, 8 if code == RENAME else 16)
        if code == SETATTR:
            return self._set(node, body, now_ns)
        if code in (OPEN, OPENDIR):
            if code == OPEN and struct.unpack_from("<I", body)[0] & _O_TRUNC:
                self._resize(node, 0, now_ns)
            return _OPENED.pack(0, 0)
        if code == FALLOCATE:
            offset, length, mode = struct.unpack_from("<QQI", body, 8)
            if mode:
                raise Refused(errno.EOPNOTSUPP)
            return self._grow(node, offset + length, now_ns)
        if code == READDIR:
            return self._entries(node, *struct.unpack_from("<QI", body, 8))
        if code == STATFS:
            blocks, left = self._size // _BLOCK, max(0, self._size - self._used) // _BLOCK
            return _STATFS.pack(blocks, left, left, 1 << 20, 1 << 20, _BLOCK, _NAME_MAX, _BLOCK, *[0] * 7)
        if code in (RELEASE, RELEASEDIR, FSYNC, FSYNCDIR, FLUSH):
            return b""
        raise Refused(errno.ENOSYS)  # the kernel does not ask again for most of these

    def _init(self, body: memoryview) -> bytes:
        _, minor, most_ahead, offered = struct.unpack_from("<4I", body)
        flags = (_FLAGS | (_WRITEBACK_CACHE if self._write_cache else 0)) & offered
        # 0: the kernel's own max_background (12) and congestion_threshold (9).
        return _INIT.pack(_MAJOR, min(minor, _MINOR), most_ahead, flags, 0, 0, MOST_WRITE, 1, *[0] * 16)

    def _node(self, number: int) -> Node:
        if number not in self._nodes:
            raise Refused(errno.ESTALE)
        return self._nodes[number]

    def _named(self, directory: Node, name: bytes) -> Node:
        if name not in directory.names:
            raise Refused(errno.ENOENT)
        return self._nodes[directory.names[name]]

    def _make(self, directory: Node, name: bytes, mode: int, now_ns: int) -> Node:
        if name in directory.names:
            raise Refused(errno.EEXIST)
        self._last += 1
        made = self._nodes[self._last] = Node(self._last, mode, now_ns, links=1 + stat.S_ISDIR(mode))
        directory.names[name] = made.number
        return made

    def _remove(self, directory: Node, name: bytes, *, is_directory: bool) -> bytes:
        node = self._named(directory, name)
        if node.is_directory != is_directory:
            raise Refused(errno.ENOTDIR if is_directory else errno.EISDIR)
        if node.names:
            raise Refused(errno.ENOTEMPTY)
        del directory.names[name]
        node.links = 0
        self._drop(node)
        return b""

    def _rename(self, directory: Node, body: memoryview, names_at: int) -> bytes:
        target = self._node(struct.unpack_from("<Q", body)[0])
        flags = struct.unpack_from("<I", body, 8)[0] if names_at > 8 else 0
        old, new = bytes(body[names_at:-1]).split(b"\0")
        node = self._named(directory, old)
        if flags & ~_EXCLUSIVE:
            raise Refused(errno.EINVAL)
        if new in target.names:
            if flags:
                raise Refused(errno.EEXIST)
            self._remove(target, new, is_directory=node.is_directory)
        del directory.names[old]
        target.names[new] = node.number
        return b""

    def _set(self, node: Node, body: memoryview, now_ns: int) -> bytes:
        valid, size, mtime_s = struct.unpack_from("<I12xQ16xQ", body)
        mtime_ns, mode = struct.unpack_from("<I4xI", body, 60)
        if valid & _SET_SIZE:
            self._resize(node, size, now_ns)
        if valid & _SET_MODE:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        if valid & _SET_MTIME:
            node.time_ns = mtime_s * 10**9 + mtime_ns
        return self._attributes(node)

    def _grow(self, node: Node, size: int, now_ns: int) -> bytes:
        self._resize(node, max(size, node.size), now_ns)
        return b""

    def _resize(self, node: Node, size: int, now_ns: int) -> None:
        if self._used + size - node.size > self._size and size > node.size:
            raise Refused(errno.ENOSPC)
        self._used += size - node.size
        node.size, node.time_ns = size, now_ns

    def _forget(self, code: int, number: int, body: memoryview) -> bytes:
        told = [(number, *struct.unpack_from("<Q", body))] if code == FORGET else []
        if code == BATCH_FORGET:
            told = [struct.unpack_from("<QQ", body, 8 + 16 * at) for at in range(struct.unpack_from("<I", body)[0])]
        for each, times in told:
            if node := self._nodes.get(each):
                node.looked -= times
                self._drop(node)
        return b""

    def _drop(self, node: Node) -> None:
        """Free a node that has no name, and that the kernel does not know any more."""
        if not node.links and node.looked <= 0:
            self._used -= node.size
            self._nodes.pop(node.number, None)

    def _entry(self, node: Node) -> bytes:
        node.looked += 1
        return _ENTRY.pack(node.number, 0, _VALID_S, _VALID_S, 0, 0) + _packed(node)

    def _attributes(self, node: Node) -> bytes:
        return _ATTR_HEAD.pack(_VALID_S, 0) + _packed(node)

    def _entries(self, directory: Node, first: int, most: int) -> bytes:
        """Return entries from a place on, of at most so many bytes."""
        found = b""
        for at, (name, number) in enumerate(list(directory.names.items())[first:], first + 1):
            kind = stat.S_IFMT(self._nodes[number].mode) >> 12
            entry = _DIRENT.pack(number, at, len(name), kind) + name
            entry += bytes(-len(entry) % 8)
            if len(found) + len(entry) > most:
                break
            found += entry
        return found


def place_of(code: int, body: memoryview) -> int:
    """Return the place in the file that a request writes or reads; 0 for others."""
    return int(struct.unpack_from("<Q", body, 8)[0]) if code in (WRITE, READ) else 0


def is_of_cache(code: int, body: memoryview) -> bool:
    """Whether a request writes pages of the cache."""
    return code == WRITE and bool(struct.unpack_from("<I", body, 20)[0] & _BY_CACHE)


def _packed(node: Node) -> bytes:
    seconds, rest = divmod(node.time_ns, 10**9)
    blocks = -(-node.size // 512)
    times = (*[seconds] * 3, *[rest] * 3)
    return _ATTR.pack(node.number, node.size, blocks, *times, node.mode, node.links, 0, 0, 0, _BLOCK, 0)
