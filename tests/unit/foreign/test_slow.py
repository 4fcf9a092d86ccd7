"""Logs of programs that say which of their calls were slow: how often, for how long, and when."""

import textwrap

import pytest
from support.slowtexts import LOGS
from support.statetexts import MACHINES
from support.statetexts import text as state

from wblab.core.errors import InputError
from wblab.foreign.door import explained
from wblab.foreign.slowlog import read_slow_calls
from wblab.foreign.slowreport import clusters, slow_headline, slow_report
from wblab.report.text import lines

NOON = 12 * 3600


def log(name):
    (found,) = [each for each in LOGS if each.name == name]
    return found


@pytest.mark.parametrize("form", LOGS, ids=lambda form: form.name)
def test_each_form_says_how_long_a_call_took_and_when(form):
    took = (1.25, 71.5, 7.5)
    found = read_slow_calls(
        "nothing slow here\n" + form.text(*((NOON + 100 * at, each) for at, each in enumerate(took)))
    )
    assert [call.program for call in found] == [form.program] * 3
    assert [call.took_s for call in found] == ([form.least] * 3 if form.least else list(took))
    times = [call.at_s for call in found]
    assert [later - times[0] for later in times] == pytest.approx([0, 100, 200], abs=1e-3)
    assert found[0].when.endswith("12:00:00")
    assert len(textwrap.wrap(slow_headline(found), 80)) <= 5
    assert all(len(line) <= 80 for line in lines(slow_report("x", found), 80))


def test_calls_close_to_each_other_are_one_group():
    found = read_slow_calls(log("etcd 3.5").text(*((NOON + at, 2.0) for at in (0, 20, 50, 3600, 3605))))
    assert [len(each.calls) for each in clusters(found)] == [3, 2]
    assert clusters(found)[0].end_s - clusters(found)[0].begin_s == 52
    assert "took a second or more 5 times, up to 2 s, 10 s in all. In 2 groups over" in slow_headline(found)


def test_groups_that_come_regularly_are_named_so():
    form = log("etcd 3.3")
    regular = read_slow_calls(form.text(*((NOON + 300 * at + at % 2, 2.0) for at in range(6))))
    assert "about every 5 min: look for what runs so often" in slow_headline(regular)
    checkpoints = read_slow_calls(log("PostgreSQL 16").text(*((NOON + 300 * at, 2.0) for at in range(6))))
    assert "look for what runs so often" not in slow_headline(checkpoints)
    irregular = read_slow_calls(form.text(*((NOON + at, 2.0) for at in (0, 300, 1500, 1700, 4000))))
    assert "look for what runs so often" not in slow_headline(irregular)


def test_checkpoints_whose_syncs_were_short_acquit_the_disk():
    found = read_slow_calls(log("PostgreSQL 16").text((NOON, 0.004), (NOON + 300, 0.2)))
    assert slow_headline(found).startswith("PostgreSQL: none of 2 checkpoints synced a file for a second or more")
    slow = read_slow_calls(log("PostgreSQL 16").text((NOON, 0.004), (NOON + 300, 16.0)))
    assert "took a second or more once, up to 16 s; all syncs of one checkpoint took up to 32 s" in slow_headline(slow)


def test_what_redis_says_is_a_lower_limit():
    found = slow_report("x", read_slow_calls(log("Redis 7").text((NOON, 9.0), (NOON + 5, 9.0))))
    assert "had not ended after 2 s" in str(found.headline)
    assert "≥ 4 s" in "\n".join(lines(found, 80))
    assert found.data["calls"][0]["is_at_least"]


def test_a_line_without_a_time_counts_and_is_in_no_group():
    found = read_slow_calls("sync duration of 1.5s, expected less than 1s\n" * 3)
    assert len(found) == 3
    assert clusters(found) == []
    assert "The log does not say when." in slow_headline(found)


@pytest.mark.parametrize(
    "line",
    [
        "we saw 'slow fdatasync' warnings in our log",
        "grep 'sync duration of' etcd.log",
        "checkpoint complete: wrote 100 buffers",
        "AOF fsync is taking too long, says the dashboard",
        '{"msg":"apply request took too long","took":"9s","expected-duration":"100ms"}',
    ],
)
def test_words_about_slow_calls_are_none(line, tmp_path):
    file = tmp_path / "x.log"
    file.write_text(line)
    with pytest.raises(InputError, match=r"a text without a stack|a log"):
        explained(str(file))


def test_a_log_beside_the_state_of_its_machine(tmp_path):
    file = tmp_path / "x.log"
    file.write_text(log("etcd 3.5").text((NOON, 4.0)) + "\n" + state(MACHINES[6], "plain"))
    found = explained(str(file))
    assert (found.data["kind"], found.data["machine"]["now_bytes"]) == ("slow calls", 3 << 20)
    assert "sh recorder.sh --comm etcd --over 1s" in "\n".join(lines(found, 80))


def test_stacks_come_before_a_log(tmp_path):
    file = tmp_path / "x.log"
    rows = ["INFO: task dd:9 blocked for more than 120 seconds.", "Call Trace:", " balance_dirty_pages+0x1/0x2"]
    stack = "\n".join([*rows, " vfs_write+0x1/0x2"])
    file.write_text(log("etcd in syslog").text((NOON, 4.0)) + "\n" + stack)
    found = explained(str(file))
    assert (found.data["kind"], found.data["slow"]["calls"][0]["slow"]) == ("stacks", 1)
