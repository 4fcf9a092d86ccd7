import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wblab.core.status import PHASES, Message

DETAILS = st.fixed_dictionaries({}, optional={"start_ns": st.integers(0, 2**63), "reason": st.text()})


@settings(deadline=None)
@given(st.sampled_from([*PHASES, "failed"]), st.integers(0, 2**63), DETAILS)
def test_a_message_survives_the_channel(phase, guest_ns, detail):
    line = Message(phase, guest_ns, detail).line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert Message.parse(line) == Message(phase, guest_ns, detail)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe\n",
        b"Kernel panic\n",
        b"[]\n",
        b"3\n",
        b"null\n",
        b'{"phase": "loads"}\n',
        b'{"phase": "loads", "guest_ns": 1, "other": 2}\n',
        b'{"phase": 1, "guest_ns": 1}\n',
        b'{"phase": "loads", "guest_ns": "1"}\n',
        b'{"phase": "loads", "guest_ns": true}\n',
        b'{"phase": "loads", "guest_ns": 1, "detail": []}\n',
        b'{"phase": "loads", "guest_ns": -1}\n',
        b'{"phase": "a nap", "guest_ns": 1}\n',
        b'{"phase": ["loads"], "guest_ns": 1}\n',
        b'{"phase": "loads", "guest_ns": 1, "detail": {"start_ns": "x"}}\n',
        b'{"phase": "loads", "guest_ns": 1, "detail": {"start_ns": NaN}}\n',
        b'{"phase": "loads", "guest_ns": 1, "detail": {"start_ns": 1e999}}\n',
        b'{"phase": "failed", "guest_ns": 1, "detail": {"reason": 3}}\n',
        b'{"phase": "loads", "guest_ns": ' + b"9" * 5000 + b"}\n",
        b'{"phase": "loads", "guest_ns": 1, "detail": ' + b"[" * 30000 + b"]" * 30000 + b"}\n",
    ],
)
def test_invalid_messages_are_value_errors(line):
    with pytest.raises(ValueError, match=r"."):
        Message.parse(line)


def test_the_detail_is_optional():
    assert Message.parse(json.dumps({"phase": "disk", "guest_ns": 5}).encode()) == Message("disk", 5)
