import os
import tomllib
from dataclasses import fields

import pytest

from wblab.core.errors import InputError
from wblab.lab.places import ROOT
from wblab.lab.printable import printable
from wblab.live.mitigate.configuration import Config, check, read_config


def write(tmp_path, text):
    path = tmp_path / "mitigate.toml"
    path.write_text(text)
    return path


def test_values_have_units(tmp_path):
    config = read_config(write(tmp_path, 'policy = "idle+memory.high"\nperiod = "500ms"\nbandwidth = "70MiB/s"'))
    assert config.policies == ["idle", "memory.high"]
    assert config.period == 500_000_000
    assert config.bandwidth == 70 * 1024**2


def test_the_defaults_are_valid(tmp_path):
    check(Config())
    assert read_config(None, tmp_path / "none") == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('policy = "idel"', "did you mean 'idle'"),
        ('policy = "idle+best-effort-7"', "one I/O class"),
        ("off_percent = 70", "below on_percent"),
        ("clip_percent = 10", "nothing ever offends"),
        ("child_percent = 101", "0 to 100"),
        ("io_weight = 0", "1 to 1000"),
        ("io_max_percent = 0", "1 to 1000"),
        ('cached = "io.mix"', "cached: 'io.mix' is not one of"),
        ('limit_time = "0s"', "limit_time must be above 0"),
        ('period = "0s"', "period must be above 0"),
        ('smoothing = "8"', "write for example"),
        ("alow = []", "did you mean 'allow'"),
        ("policy = ", "is not TOML"),
    ],
)
def test_invalid_configurations_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_config(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        read_config(tmp_path / "nowhere.toml")


def test_the_example_is_the_default():
    path = ROOT / "misc/systemd/mitigate.toml"
    assert read_config(path) == Config()
    assert set(tomllib.loads(path.read_text())) == {field.name for field in fields(Config)}


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "x" * (2 << 20),
        "\0",
        'state = "\\u0000"',
        'state = "relative"',
        'learned = "../x"',
        'disk = "../../etc"',
        'disk = "sda\\n"',
        "bandwidth = -1",
        "period = nan",
        "period = inf",
        "hold = 99999999999999999999999",
        "allow = [[[]]]",
        "allow = 7",
        "policy = 7",
        "on_percent = true",
    ],
)
def test_a_hostile_configuration_is_one_line(tmp_path, text):
    (path := tmp_path / "mitigate.toml").write_text(text)
    with pytest.raises(InputError) as error:
        read_config(path)
    assert printable(str(error.value))
    assert len(str(error.value)) < 1000


def test_a_pipe_as_configuration_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "mitigate.toml")
    with pytest.raises(InputError, match="not a regular file"):
        read_config(tmp_path / "mitigate.toml")
