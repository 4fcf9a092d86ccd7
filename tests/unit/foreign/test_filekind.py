"""What a file is that says nothing of a machine, and what can be done with it."""

import pytest

from wblab.core.errors import InputError
from wblab.foreign.door import explained


def test_the_command_to_do_with_a_file_has_it_as_it_was_given(tmp_path):
    file = tmp_path / "my perf.data"
    file.write_bytes(b"PERFILE2 and more")
    with pytest.raises(InputError, match=f"perf script -i '{file}' >"):
        explained(str(file))
