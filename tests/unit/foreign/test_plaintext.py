"""A text in another encoding, with colours, as a page's source or as journal's JSON says what the plain one says."""

import html
import json

import pytest
from support.stacktexts import cases, text

from wblab.foreign.door import explained
from wblab.foreign.filekind import TEXT, kind_of
from wblab.foreign.plaintext import unwrapped

PLAIN = "\n".join(text(case, "hung") for case in cases()[:8])


def _journal(plain):
    lines = plain.splitlines()
    entries = [
        {"__REALTIME_TIMESTAMP": str(1795766721000000 + at), "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": line}
        for at, line in enumerate(lines)
    ]
    entries[0]["MESSAGE"] = list(lines[0].encode())  # as journalctl has what is no UTF-8
    padding = {"_MACHINE_ID": "0" * 600}
    return "\n".join(json.dumps({**padding, **entry}) for entry in entries)


WAYS = {
    "UTF-16": lambda plain: ("\ufeff" + plain.replace("\n", "\r\n")).encode("utf-16-le"),
    "other UTF-16": lambda plain: ("\ufeff" + plain).encode("utf-16-be"),
    "a byte order mark": lambda plain: ("\ufeff" + plain).encode(),
    "a gap of NULs": lambda plain: b"\0" * 100_000 + plain.replace("\n", "\n\0\0", 3).encode(),
    "colours": lambda plain: plain.replace("[", "\x1b[32m[").replace("] ", "]\x1b[0m ").encode(),
    "a page's source": lambda plain: html.escape(plain).encode(),
    "journal's JSON": lambda plain: _journal(plain).encode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_text_says_the_same_however_it_was_kept(way, tmp_path):
    plain, kept = tmp_path / "plain.txt", tmp_path / "kept.txt"
    plain.write_text(PLAIN)
    kept.write_bytes(WAYS[way](PLAIN))
    assert explained(str(kept)).headline == explained(str(plain)).headline


def test_data_with_nuls_are_no_text():
    for data in (b"\0" * 5000, bytes(range(256)) * 40, b"name\0\1\2" * 900, b"\xff\xfe" + bytes(range(256)) * 9):
        assert kind_of(data) is not TEXT


def test_lines_that_are_no_journal_s_stay_as_they_are():
    odd = ['{"MESSAGE": ', '{"MESSAGE": [300]}', '["MESSAGE"]', '{"MESSAGE": "kept", "__REALTIME_TIMESTAMP": "soon"}']
    shown = unwrapped("\n".join(odd)).splitlines()
    assert shown == [odd[0], odd[2], "host journal: kept"]
