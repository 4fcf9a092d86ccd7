"""A simulated disk: it behaves as its model says, on a clock of its own."""

from random import Random

from wblab.live.disks.device import Device, Model


class Computed:
    """call_s: length of a system call. noise: largest share by which a request may take longer.

    has_flushes: whether the disk is sent flushes. begin: where on the disk the file begins, in bytes.
    """

    def __init__(
        self,
        model: Model,
        seed: int = 0,
        call_s: float = 10e-6,
        noise: float = 0.0,
        *,
        has_flushes: bool = True,
        begin: int = 0,
    ) -> None:
        self._device, self._call_s, self._noise = Device(model), call_s, noise
        self._random = Random(seed)
        self._written = 0
        self._has_flushes, self._begin = has_flushes, begin
        self.has_together = True

    def now_ns(self):
        return round(self._device.now_s * 1e9)

    def call_ns(self):
        return round(self._call_s * 1e9)

    def write(self, offset, size):
        self._device.wait(self._call_s)
        self._noisy(self._device.write(self._begin + offset, size, self._stall_s(size)))

    def read(self, offset, size):
        self.read_together([offset], size)

    def read_together(self, offsets, size):
        self._device.wait(self._call_s)
        self._noisy(self._device.read([self._begin + offset for offset in offsets], size))

    def flush(self):
        self._device.wait(self._call_s)
        if self._has_flushes:
            self._noisy(self._device.flush())

    def _noisy(self, took_s):
        self._device.wait(took_s * self._noise * self._random.random())

    def _stall_s(self, size):
        model, before = self._device.model, self._written
        if not model.stall_every:
            return 0.0
        self._written += size
        if model.is_even:
            return model.stall_s * (self._written // model.stall_every - before // model.stall_every)
        return model.stall_s * (self._random.random() < size / model.stall_every)
