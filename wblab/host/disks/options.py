"""The options of mkfs and mount that a spec may give: what the tools document, but for those that name other files.

A spec may be somebody else's. Words that are no options would be read as the path to be formatted; options that name a
file or a device are not for a disk that is alone. Sources: the tools' manual pages; fs/*/super.c, fs/xfs/xfs_super.c,
fs/fat/inode.c.
"""

import re
from collections.abc import Mapping, Sequence

from wblab.core.errors import InputError, nearest
from wblab.core.spec import DISK, Disk
from wblab.core.stacks import OF_SERVED
from wblab.core.syscalls import MOUNT_FLAGS
from wblab.host.disks.disk import mkfs_tool


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


# An option takes nothing (None), any plain value (ANY), or a list of suboptions with or without values.
ANY = frozenset[str]()
_EXTENDED = _words(
    "encoding encoding_flags mmp_update_interval stride stripe_width offset resize lazy_itable_init lazy_journal_init "
    "assume_storage_prezeroed no_copy_xattrs num_backup_sb packed_meta_blocks root_owner root_perms root_selinux "
    "test_fs orphan_file_size discard nodiscard quotatype hash_seed desc_size hash_alg revision"
)
MKE2FS: Mapping[str, frozenset[str] | None] = {
    **dict.fromkeys("bCegGiILmNoOrTU", ANY),
    "E": _EXTENDED,
    "J": frozenset(("size", "fast_commit_size", "location")),  # not `device`, a journal elsewhere
    "j": None,
}
MKFS_XFS: Mapping[str, frozenset[str] | None] = {
    "L": ANY,
    "K": None,
    "b": frozenset(("size",)),
    "d": _words(
        "agcount agsize size sunit su swidth sw noalign sectsize rtinherit cowextsize extszinherit daxinherit "
        "unwritten projinherit concurrency"
    ),  # not `name` and `file`
    "i": _words("size perblock maxpct align attr projid32bit sparse nrext64 exchange"),
    "l": _words("internal agnum size version sunit su sectsize lazy-count concurrency"),  # not `logdev`
    "m": _words("bigtime crc finobt inobtcount metadir rmapbt reflink uuid autofsck uquota gquota pquota"),
    "n": _words("size version ftype parent"),
    "s": frozenset(("size",)),
}
MKFS_BTRFS = dict.fromkeys("dmnsORL", ANY) | {"M": None}  # not `r`, which copies a directory
MKFS_F2FS = dict.fromkeys("aloOswzE", ANY) | {"i": None}
MKFS_VFAT = dict.fromkeys("fFghMnrRsS", ANY) | dict.fromkeys("aA")  # not `l` and `m`, which read files, and not `C`
MKFS_EXFAT = dict.fromkeys("Lcb", ANY) | {"f": None}
MKFS: Mapping[str, Mapping[str, frozenset[str] | None]] = {
    "mke2fs": MKE2FS,
    "mkfs.xfs": MKFS_XFS,
    "mkfs.btrfs": MKFS_BTRFS,
    "mkfs.f2fs": MKFS_F2FS,
    "mkfs.vfat": MKFS_VFAT,
    "mkfs.exfat": MKFS_EXFAT,
}
_VALUE = re.compile(r"[A-Za-z0-9_.:^%+-][A-Za-z0-9_.:,=^%+ -]{0,127}")

_GENERIC = " ".join(MOUNT_FLAGS)
_EXT = (
    "bsddf minixdf grpid bsdgroups nogrpid sysvgroups resgid resuid sb errors nouid32 debug orlov oldalloc noload "
    "norecovery commit max_batch_time min_batch_time data data_err abort barrier nobarrier i_version dax stripe "
    "delalloc nodelalloc lazytime mblk_io_submit nomblk_io_submit block_validity noblock_validity inode_readahead_blks "
    "journal_ioprio auto_da_alloc noauto_da_alloc dioread_nolock dioread_lock nodioread_nolock discard nodiscard "
    "init_itable noinit_itable max_dir_size_kb nombcache no_mbcache prefetch_block_bitmaps no_prefetch_block_bitmaps "
    "mb_optimize_scan journal_checksum nojournal_checksum journal_async_commit usrquota grpquota prjquota quota "
    "noquota usrjquota grpjquota jqfmt user_xattr nouser_xattr acl noacl check nocheck reservation noreservation "
    "warn_on_error nowarn_on_error bh nobh test_dummy_encryption inlinecrypt"
)
_XFS = (
    "attr2 noattr2 ikeep noikeep logbufs logbsize wsync noalign swalloc sunit swidth nouuid grpid nogrpid bsdgroups "
    "sysvgroups allocsize norecovery inode64 inode32 largeio nolargeio filestreams quota noquota usrquota grpquota "
    "prjquota uquota gquota pquota uqnoenforce gqnoenforce pqnoenforce qnoenforce discard nodiscard dax lifetime "
    "nolifetime max_open_zones max_atomic_write"
)
_BTRFS = (
    "acl noacl autodefrag noautodefrag barrier nobarrier clear_cache commit compress compress-force datacow nodatacow "
    "datasum nodatasum discard nodiscard enospc_debug noenospc_debug fatal_errors flushoncommit noflushoncommit "
    "max_inline metadata_ratio norecovery nologreplay rescue skip_balance space_cache nospace_cache ssd ssd_spread "
    "nossd nossd_spread subvol subvolid thread_pool treelog notreelog usebackuproot user_subvol_rm_allowed"
)  # not `device`
_F2FS = (
    "background_gc gc_merge nogc_merge disable_roll_forward norecovery discard nodiscard discard_unit heap no_heap "
    "active_logs disable_ext_identify inline_data noinline_data inline_dentry noinline_dentry flush_merge "
    "noflush_merge barrier nobarrier fastboot extent_cache noextent_cache age_extent_cache mode data_flush "
    "reserve_root resuid resgid alloc_mode fsync_mode checkpoint checkpoint_merge nocheckpoint_merge atgc memory "
    "errors lazytime"
)
_FAT_OWNERS = "uid gid umask dmask fmask allow_utime iocharset time_offset errors discard "
_VFAT = _FAT_OWNERS + (
    "codepage utf8 uni_xlate nonumtail shortname tz quiet showexec check sys_immutable flush usefree rodir dots nodots "
    "dos1xfloppy"
)
_EXFAT = _FAT_OWNERS + "keep_last_dots sys_tz zero_size_dir"
_FUSE = "max_read"  # the others name the server, or whom it lets in
MOUNT = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), _words(_GENERIC, _EXT)),
    "xfs": _words(_GENERIC, _XFS),
    "btrfs": _words(_GENERIC, _BTRFS),
    "f2fs": _words(_GENERIC, _F2FS),
    "vfat": _words(_GENERIC, _VFAT),
    "exfat": _words(_GENERIC, _EXFAT),
    "fuse": _words(_GENERIC, _FUSE),
}


def check_options(disk: Disk, key: str = DISK) -> None:
    """Raise InputError, naming the option, for one of mkfs or mount that is not known.

    key: where the disk stands in its spec.
    """
    if not disk.has_files:
        if disk.mkfs_options or disk.mount_options:
            raise InputError(f"{key} has no filesystem: remove mkfs_options and mount_options")
        return
    if disk.filesystem != OF_SERVED:
        tool = mkfs_tool(disk)
        _check_mkfs(tool, disk.mkfs_options, MKFS[tool], f"{key}.mkfs_options")
    known = MOUNT[disk.filesystem]
    for option in disk.mount_options:
        name, _, value = option.partition("=")
        if name not in known:
            raise InputError(f"{key}.mount_options: unknown option {option!r}{nearest(name, sorted(known))}")
        if value and not (_VALUE.fullmatch(value) and "," not in value):
            raise InputError(f"{key}.mount_options: {option!r}: {value!r} is not a plain value")


def _check_mkfs(tool: str, words: Sequence[str], known: Mapping[str, frozenset[str] | None], key: str) -> None:
    left = list(words)
    while left:
        word = left.pop(0)
        letter = word[1:2]
        if not re.fullmatch(r"-[A-Za-z].*", word):
            raise InputError(f"{key}: {word!r} is not an option of {tool}: write for example '-O', '^has_journal'")
        if letter not in known:
            raise InputError(f"{key}: '-{letter}' is not an option of {tool} for a disk: remove it")
        suboptions, value = known[letter], word[2:]
        if suboptions is None:
            if value:
                raise InputError(f"{key}: {word!r}: '-{letter}' takes no value")
            continue
        if not value:
            if not left:
                raise InputError(f"{key}: '-{letter}' needs a value after it")
            value = left.pop(0)
        _check_value(f"{key}: {f'-{letter} {value}'!r}", value, suboptions)


def _check_value(shown: str, value: str, suboptions: frozenset[str]) -> None:
    if not _VALUE.fullmatch(value):
        raise InputError(f"{shown}: {value!r} is not a plain value")
    for item in value.split(",") if suboptions else ():
        name = item.partition("=")[0].strip()
        if name not in suboptions:
            raise InputError(f"{shown}: unknown {name!r}{nearest(name, sorted(suboptions))}")
