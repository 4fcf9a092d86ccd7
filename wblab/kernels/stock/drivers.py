"""The kernel's own drivers of disks, by which a stock kernel may have them: stock:7.2+sata.

Without one, its disks are null_blk's, in its memory.
"""

from collections.abc import Collection, Mapping

# A driver's name as in wblab.core.drivers, and its modules. What these depend on comes by itself.
MODULES_OF: Mapping[str, tuple[str, ...]] = {
    "usb-storage": ("xhci_pci", "usb_storage", "sd_mod"),
    "uas": ("xhci_pci", "uas", "sd_mod"),
    "sd": ("sdhci_pci", "mmc_block"),
    "sata": ("ahci", "sd_mod"),
    "nvme": ("nvme",),
    "virtio": ("virtio_pci", "virtio_blk"),
}


def drivers_in(modules: Collection[str], built_in: Collection[str] | None) -> list[str]:
    """Return the drivers that a kernel has. built_in: what is part of it; None: not known, so only modules count."""
    there = {*modules, *(built_in or ())}
    return [driver for driver, wanted in MODULES_OF.items() if there.issuperset(wanted)]
