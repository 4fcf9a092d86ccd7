"""The rows of a large study as the table of results that a small one has: a line for each run, load and metric."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from wblab.analysis.runs.metrics import UNKNOWN_S, is_cause
from wblab.analysis.runs.rowparts import part_paths, read_part
from wblab.lab.formats import COLUMNS, KIND, OF_LOAD, ROW_COLUMNS


def long_table(study: Path, most_rows: int) -> pd.DataFrame:
    """Return the table of a study with rows: axes, cell, seed, and `COLUMNS`, as a small study has it.

    A load that has its paused time by cause gets 0 s for causes that only other runs have. Raises InputError for
    damaged files, and ValueError or KeyError for more than `most_rows` or missing columns.
    """
    wide = pa.concat_tables(map(read_part, part_paths(study)), promote_options="default").to_pandas(
        ignore_metadata=True
    )
    names = {name: tuple(name.split(OF_LOAD)) for name in wide.columns if OF_LOAD in name}
    front = [name for name in wide.columns if name not in names and name not in ROW_COLUMNS]
    measured = {pair: _values(wide, *pair) for pair in sorted(names.values()) if pair[1] != KIND}
    if sum(int(values.notna().sum()) for values in measured.values()) > most_rows:
        raise ValueError(f"it has more than {most_rows} figures")
    own = wide[front].assign(run=wide["cell"] + "-s" + wide["seed"].astype(str))
    tables = []
    for (load, metric), values in measured.items():
        kinds = wide[f"{load}{OF_LOAD}{KIND}"]
        tables.append(own.assign(load=load, kind=kinds, metric=metric, value=values)[values.notna()])
    table: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return table[[*front, *COLUMNS]]


def _values(wide: pd.DataFrame, load: str, metric: str) -> "pd.Series[float]":
    """Return a metric of a load in each run, where it has it."""
    values, unknown = wide[f"{load}{OF_LOAD}{metric}"], f"{load}{OF_LOAD}{UNKNOWN_S}"
    if is_cause(metric) and unknown in wide:
        return values.where(values.notna() | wide[unknown].isna(), 0.0)
    return values
