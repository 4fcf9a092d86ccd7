from wblab.live.runs.traces import kernel_functions


def test_only_functions_are_kept(tmp_path):
    lines = [
        "ffffffff81000010 t schedule\n",
        "ffffffffc0000020 T queue_rq\t[virtio_blk]\n",
        "ffffffff82000000 D jiffies\n",
    ]
    (tmp_path / "kallsyms").write_text("".join(lines))
    assert kernel_functions(tmp_path / "kallsyms") == "".join(lines[:2])


def test_hidden_addresses_give_no_functions(tmp_path):
    (tmp_path / "kallsyms").write_text("0000000000000000 t schedule\n0000000000000000 T io_schedule\n")
    assert kernel_functions(tmp_path / "kallsyms") == ""
