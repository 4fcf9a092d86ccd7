import json
import threading

import pytest

from wblab.core.errors import InputError
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.lab import formats
from wblab.lab.formats import BISECTION, RUN, STUDY, VERIFICATION, Format, write_json

FORMATS = [RUN, STUDY, BISECTION, VERIFICATION]


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "x.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_with_the_right_header_is_read(write, form):
    for kind in form.kinds:
        content = form.head(kind) | {"more": [1]}
        assert form.read(write(content)) == content


@pytest.mark.parametrize("form", FORMATS)
def test_another_version_is_refused_with_the_next_step(write, form):
    with pytest.raises(InputError, match=r"x\.json has format 2, this lab reads 1: use the lab that wrote it"):
        form.read(write(form.head() | {"format": 2}))


def test_no_format_is_mistaken_for_another(write):
    for form in FORMATS:
        for other in FORMATS:
            if other is not form:
                with pytest.raises(InputError, match=f"is of kind '{other.kinds[0]}', not .*: is this {form.where}"):
                    form.read(write(other.head()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is damaged"),
        ("[]", "is damaged: it is not a JSON object"),
        ('{"format": 1, "kind": ["uml"]}', r"is of kind \['uml'\], not uml or live"),
        (json.dumps({"format": "1" * 1000}), "has format '1{39}…, this lab"),
        ("[" * 5000, "is damaged"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(write, content, message):
    with pytest.raises(InputError, match=message) as refused:
        RUN.read(write(content))
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused_with_a_hint(tmp_path):
    with pytest.raises(InputError, match="is this the directory of a study"):
        STUDY.read(tmp_path / "study.json")


def test_an_oversized_file_is_not_read(write):
    path = write({"format": 1, "kind": "small", "text": "x" * 1000})
    assert Format("here", 1, ("small",), most_bytes=2000).read(path)["text"] == "x" * 1000
    with pytest.raises(InputError, match="longer than"):
        Format("here", 1, ("small",), most_bytes=1000).read(path)


def test_file_names_in_a_directory_are_unique():
    run = [formats.EXPERIMENT, formats.CONSOLE, formats.CONFIG, formats.COMMAND_LOG, TRACE, TRACE_LOG]
    several = [formats.RUNS, formats.STUDY_FILE, formats.ROWS, formats.CELLS, formats.BISECTION_RECORD]
    assert len({*run, *several}) == len(run) + len(several)


def test_a_reader_never_sees_half_of_a_json_file(tmp_path):
    path = tmp_path / "x.json"
    values = [{"n": number, "text": "é" * 20_000} for number in range(2)]
    write_json(path, values[0])
    done = threading.Event()

    def write():
        for number in range(60):
            write_json(path, values[number % 2])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert json.loads(path.read_text()) in values
    writer.join()
    assert [item.name for item in tmp_path.iterdir()] == ["x.json"]


def test_a_failed_write_keeps_the_old_json_file(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, 1)
    with pytest.raises(TypeError):
        write_json(path, object())
    assert path.read_text() == "1\n"
