"""The environment of the guest's programs: what they would take from the host's set-up or processor, they get here.

Each file of the host that is read takes memory of the guest, and each variant of a function lies on other pages. Both
would reach the dirty thresholds, which are parts of what memory is left, and with them the timing.

Which processor programs see is for the guest's kernel to say (linux-uml, patch 8). The tunables are for hosts that
cannot fault CPUID, where it cannot: a list of what glibc looks at today, which is never complete. All guests get them,
so that those of both kinds of hosts do as nearly the same as they can.
"""

# glibc picks variants of its functions, directories in which it looks for libraries, and the sizes from which it copies
# past the caches by what the processor has. Without these it does what any x86-64 can (manual of glibc, "Hardware
# Capability Tunables"; `ld.so --list-diagnostics` shows what is left). A name that it does not know is ignored.
_FEATURES = (
    *("AVX", "AVX2", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512ER", "AVX512F", "AVX512PF", "AVX512VL"),
    *("BMI1", "BMI2", "ERMS", "FMA", "FMA4", "FSRM", "LZCNT", "MOVBE", "POPCNT", "RTM"),
    *("SSE4_1", "SSE4_2", "SSSE3", "XSAVE", "XSAVEC"),
)
_PREFERENCES = (
    *("AVX_Fast_Unaligned_Load", "Fast_Copy_Backward", "Fast_Rep_String", "Fast_Unaligned_Copy", "Fast_Unaligned_Load"),
    *("Prefer_ERMS", "Prefer_FSRM", "Prefer_No_AVX512_Probing", "Prefer_No_VZEROUPPER", "Prefer_PMINUB_for_stringop"),
    *("Slow_BSF", "Slow_SSE4_2"),
)
_SIZES_BYTES = {
    "data_cache_size": 32 << 10,
    "shared_cache_size": 1 << 20,
    "non_temporal_threshold": 768 << 10,
    "rep_movsb_threshold": 2 << 10,
    "rep_stosb_threshold": 2 << 10,
}
_WITHOUT = ",".join(f"-{name}" for name in (*_FEATURES, *_PREFERENCES))
_SIZES = "".join(f":glibc.cpu.x86_{name}={size}" for name, size in _SIZES_BYTES.items())

# Libraries are found here before /etc/ld.so.cache is looked at, which each package with a library changes.
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64")

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "LD_LIBRARY_PATH": ":".join(LIBRARIES),  # only for what the lab itself runs: commands and agents do not get it
    # No locale and no time zone, whose files some machines have and some have not.
    "LC_ALL": "C",
    "TZ": "UTC0",
    "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={_WITHOUT}{_SIZES}",
}
