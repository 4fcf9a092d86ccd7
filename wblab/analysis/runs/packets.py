"""Perfetto's native format: a trace is a sequence of packets that describe tracks or hold their events.

Reference: https://perfetto.dev/docs/reference/synthetic-track-event.
"""

import io
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import DebugAnnotation, TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from wblab.core.errors import InputError

_SEQUENCE = 1
_INT64_END = 1 << 63


@dataclass(frozen=True)
class PacketLabel:
    """The name, category and arguments of a slice or an instant."""

    name: str
    category: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Packets:
    """The packets of a trace. A name is written once, at its first use; later packets use its number."""

    def __init__(self, facts: Mapping[str, str | int]) -> None:
        self._file = io.BytesIO()
        self._builder: Any = StreamingTraceProtoBuilder(self._file)
        self._tracks = 0
        self._numbers: dict[str, dict[str, int]] = defaultdict(dict)
        packet = self._packet()
        packet.first_packet_on_sequence = True
        packet.sequence_flags |= TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        for key, value in facts.items():
            kind = "long_value" if isinstance(value, int) else "string_value"
            packet.trace_attributes.attribute.add(**{"key": key, kind: value})
        self._builder.write_packet(packet)

    def data(self) -> bytes:
        """Return the trace's bytes."""
        return self._file.getvalue()

    def track(self, name: str, parent: int = 0, **kind: Any) -> int:
        """Add a track below its parent's other tracks, and return its id."""
        self._tracks += 1
        descriptor = TrackDescriptor(uuid=self._tracks, name=name, sibling_order_rank=self._tracks, **kind)
        descriptor.child_ordering = TrackDescriptor.EXPLICIT
        if parent:
            descriptor.parent_uuid = parent
        packet = self._packet()
        packet.track_descriptor.CopyFrom(descriptor)
        self._builder.write_packet(packet)
        return self._tracks

    def begin(self, track: int, time_ns: int, label: PacketLabel) -> None:
        """Begin a slice."""
        self._event(TrackEvent.TYPE_SLICE_BEGIN, track, time_ns, label)

    def end(self, track: int, time_ns: int) -> None:
        """End the slice that began last."""
        self._event(TrackEvent.TYPE_SLICE_END, track, time_ns)

    def slice(self, track: int, start_ns: int, end_ns: int, label: PacketLabel) -> None:
        """Write a slice without nested slices."""
        self.begin(track, start_ns, label)
        self.end(track, end_ns)

    def instant(self, track: int, time_ns: int, label: PacketLabel) -> None:
        """Write an instant."""
        self._event(TrackEvent.TYPE_INSTANT, track, time_ns, label)

    def counter(self, track: int, times_ns: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        """Write a counter. A value holds until the next; repeated values are left out, except the last."""
        kept = np.append(True, values[1:] != values[:-1])
        kept[-1] = True
        for time_ns, value in zip(times_ns[kept].tolist(), values[kept].tolist(), strict=True):
            self._event(TrackEvent.TYPE_COUNTER, track, time_ns, value=value)

    def _event(
        self, kind: int, track: int, time_ns: int, label: PacketLabel | None = None, value: int | None = None
    ) -> None:
        if time_ns < 0:
            raise InputError(f"the run is damaged: it has a time of {time_ns} ns, before its clock began")
        packet = self._packet()
        packet.timestamp = time_ns
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        if value is not None:
            event.counter_value = value
        if label is not None:
            event.name_iid = self._number(packet, "event_names", label.name)
            event.category_iids.append(self._number(packet, "event_categories", label.category))
            for key, argument in label.arguments.items():
                annotation = event.debug_annotations.add()
                annotation.name_iid = self._number(packet, "debug_annotation_names", key)
                _set(annotation, argument)
        self._builder.write_packet(packet)

    def _number(self, packet: TracePacket, kind: str, name: str) -> int:
        known = self._numbers[kind]
        if name not in known:
            known[name] = len(known) + 1
            getattr(packet.interned_data, kind).add(iid=known[name], name=name)
        return known[name]

    def _packet(self) -> TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        return packet


def _set(annotation: DebugAnnotation, value: object) -> None:
    match value:
        case int() if value >= _INT64_END:
            annotation.uint_value = value
        case int():
            annotation.int_value = value
        case float():
            annotation.double_value = value
        case list():
            for item in value:
                _set(annotation.array_values.add(), item)
        case bytes():
            annotation.string_value = value.hex(" ")
        case _:
            annotation.string_value = str(value)
