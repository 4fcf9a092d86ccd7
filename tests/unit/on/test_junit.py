"""JUnit's XML of a command: what services for continuous integration find in it."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from wblab.core.errors import InputError
from wblab.on.calls import Call
from wblab.on.heard import Said
from wblab.on.junit import Case, case_of, check_junit, write_junit
from wblab.on.made import Ran
from wblab.on.order import ERR, OUT, Order
from wblab.on.told import Told

# Of the schema by which Jenkins' xUnit plugin reads files, junit-10.xsd: attributes, the required ones with a star, and
# children; `error` as all readers have it.
COUNTS = "tests* failures* errors*"
SCHEMA = {
    "testsuites": ("name time tests failures errors", "testsuite"),
    "testsuite": (f"name* {COUNTS} time skipped timestamp hostname id package", "properties testcase"),
    "testcase": ("name* time classname", "skipped error failure system-out system-err"),
    "failure": ("type message", ""),
    "error": ("type message", ""),
    "system-out": ("", ""),
    "system-err": ("", ""),
}


def check(element):
    attributes, children = (text.split() for text in SCHEMA[element.tag])
    required = {name.rstrip("*") for name in attributes if name.endswith("*")}
    assert required <= set(element.attrib) <= {name.rstrip("*") for name in attributes}
    assert {child.tag for child in element} <= set(children)
    assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    for child in element:
        check(child)


@pytest.fixture
def ran(tmp_path):
    class Finished:
        directory = tmp_path / "run"

    said = Said(code=0, time_ns=1_500_000_000)
    said.hear(OUT, b"\x1b[31mred\0\xff\n")
    return Ran(Finished(), Order(argv=("x",), directory="/p"), said, (), computes=False)


def test_a_suite_has_a_case_for_each_seed(ran, tmp_path):
    call = Call("fsync", "app", 31, 50_000_000, 9_740_000_000)
    failed = replace(ran, said=Said(code=3))
    cases = [
        case_of(Told(ran, longest=call), "seed 0"),
        case_of(Told(ran, 200_000_000, call), "seed 1"),
        case_of(Told(failed), "seed 2"),
        Case("seed 3", kind="error", words="the guest did not boot"),
    ]
    write_junit(tmp_path / "found.xml", "srv.toml", ("app", "a b"), cases)
    root = ElementTree.parse(tmp_path / "found.xml").getroot()
    check(root)
    (suite,) = root
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors", "time")] == [
        "wblab on srv.toml -- app 'a b'", "4", "2", "1", "3.000",
    ]  # fmt: skip
    assert [(one.get("classname"), one.get("name"), one.get("time")) for one in suite][1] == (
        "wblab.on.srv", "app 'a b' [seed 1]", "1.500",
    )  # fmt: skip
    words = [next((one.get("message") for one in case if one.get("message")), "") for case in suite]
    over = "longest call: fsync of app, 9.74 s, at 0.05 s: over the limit of 200 ms"
    assert words == ["", over, "exit code 3", "the guest did not boot"]
    assert (
        suite[0].findtext("system-out")
        == "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\n"
    )
    assert suite[0].findtext("system-err") == f"wblab: {over.partition(': over')[0]}\nwblab: run: {tmp_path}/run"


def test_of_much_output_the_last_is_there(ran):
    for number in range(300):
        ran.said.hear(OUT, b"%1023d\n" % number)
    ran.said.hear(ERR, b"x" * (64 << 10))
    case = case_of(Told(ran), "seed 0")
    first, *others = case.out.splitlines()
    assert (first, others[0].strip(), others[-1].strip(), len(others)) == ("(the last 64 KiB)", "236", "299", 64)
    assert case.err.startswith("xx")


def test_a_file_that_cannot_be_written_is_refused_before_anything_boots(tmp_path):
    for file in (tmp_path, tmp_path / "no" / "found.xml"):
        with pytest.raises(InputError, match="give a file in a directory that is there"):
            check_junit(file)
