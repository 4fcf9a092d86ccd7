"""The data of comparisons: a tidy table with a row for each run, load and metric, from a file or from runs."""

import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from pyarrow.parquet import ParquetFile

from wblab.analysis.groups.rowtables import count_waiting, has_rows, long_table
from wblab.analysis.runs.metrics import (
    OF_BUILDS,
    Further,
    is_noisy,
    metric_rows,
    metrics_frame,
    with_cell,
    with_zeros,
)
from wblab.analysis.runs.run import NothingMeasuredError, Run, find_run, read_run
from wblab.core.errors import InputError, nearest
from wblab.core.files import open_file
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.lab.formats import COLUMNS, LOOKS, NOISY_MARK, ROWS, RUNS, STUDY, STUDY_FILE, read_object
from wblab.lab.kernelname import options_in, variants_of
from wblab.lab.printable import printable

SUFFIXES = (".parquet", ".csv")
NOISY_COLUMN = "noisy"
_KERNEL = "kernel"
_NOT_AXES = {"cell", "seed", NOISY_COLUMN, *COLUMNS}  # a cell is the combination of all levels
# Limits of a table of results: few bytes of Parquet can hold many rows.
_MOST_TABLE_BYTES, _MOST_ROWS, _MOST_COLUMNS = 1 << 30, 10_000_000, 200
_MOST_VALUE = 1e18  # of seconds, shares and bytes/s
_MOST_LEVELS = 1000  # of all axes: each is a group, or an effect
NONE = "-"  # the level of a run whose spec does not have the key


@dataclass(frozen=True)
class Observations:
    """Runs that can be compared.

    table: the axes' names, seed, run, load, kind, metric, value; levels are texts.
    levels: those of each axis, in order; the first is the baseline. by: the requested axes.
    notes: what was left out, and which axes the runs cannot separate.
    """

    table: pd.DataFrame
    levels: dict[str, tuple[str, ...]]
    by: tuple[str, ...]
    notes: tuple[str, ...]


def is_table(path: Path) -> bool:
    """Return whether a path is a table of runs: a Parquet or CSV file, or the directory of a study."""
    return path.suffix.lower() in SUFFIXES or (path / STUDY_FILE).is_file()


def read_table(path: Path) -> pd.DataFrame:
    """Return the table of a study, by its directory, or of a Parquet or CSV file.

    Columns: one for each axis, seed, run, load, kind, metric, value (bytes/s, s or a fraction), and optionally noisy
    (see `is_noisy`). Raises InputError.
    """
    if path.is_dir() and not has_rows(path):
        raise InputError(f"{path} has no rows of runs yet: 'wblab study --resume {path}' makes the missing ones")
    file = path / ROWS if path.is_dir() else path
    try:
        if path.is_dir():
            table = long_table(path, _MOST_ROWS)
        else:
            with open_file(file, follow=True) as stream:
                table = _parsed(stream, file.suffix.lower())
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or 'is it a Parquet file?'}") from None
    except Exception as error:  # a parser may raise anything for a damaged file
        raise InputError(f"{file} is not a table: {' '.join(str(error).split())}") from None
    if missing := [name for name in ("seed", *COLUMNS) if name not in table.columns]:
        raise InputError(f"{file} has no column {missing[0]!r}: it was not written by 'wblab study'")
    if table.empty:
        raise InputError(f"{file} has no runs: 'wblab study --resume' makes the missing ones")
    table = table.astype(dict.fromkeys(("run", "load", "kind", "metric"), str))
    if not pd.api.types.is_numeric_dtype(table["value"]):
        raise InputError(f"{file} has values that are not numbers: it is damaged")
    if not pd.api.types.is_integer_dtype(table["seed"]):
        raise InputError(f"{file} has seeds that are not whole numbers: it is damaged")
    if (table["value"].abs() > _MOST_VALUE).any():
        raise InputError(f"{file} has impossible values: it is damaged")
    return table


def _parsed(stream: BinaryIO, suffix: str) -> pd.DataFrame:
    """Return the table in a file. Raises ValueError, or anything that the parser raises."""
    if os.fstat(stream.fileno()).st_size > _MOST_TABLE_BYTES:
        raise ValueError("it is too large for the table of a matrix")
    if suffix == ".csv":
        table = pd.read_csv(stream)
    else:
        file = ParquetFile(stream)
        if file.metadata.num_rows > _MOST_ROWS or file.metadata.num_columns > _MOST_COLUMNS:
            raise ValueError(f"{file.metadata.num_rows} rows of {file.metadata.num_columns} columns are too many")
        table = file.read().to_pandas(ignore_metadata=True)
    if not table.columns.is_unique or len(table) > _MOST_ROWS or len(table.columns) > _MOST_COLUMNS:
        raise ValueError("it has two columns with the same name, or too many")
    return table


def matrix_notes(path: Path) -> tuple[str, ...]:
    """Return notes on a study's runs that are not in its table: noisy, failed, and those of a killed process."""
    notes = []
    if count := len(list((path / RUNS).glob(f"[!_.]*{NOISY_MARK}*"))):
        notes.append(f"noisy runs, not in the table (control load stalled: the host disturbed them): {count}")
    if count := count_waiting(path):
        notes.append(f"runs that are not in the table yet, which 'wblab study --resume' adds: {count}")
    names = {printable(run.name) for run in (path / RUNS).glob("*")}
    if failed := sorted(name[1:] for name in names if name.startswith("_") and name[1:] not in names):
        notes.append(f"runs that failed and are missing: {', '.join(failed)}")
    return tuple(notes)


def looks_at(names: Sequence[str], results: Path) -> int:
    """Return how many looks at its runs decided the number of seeds of the study that is named, if one is; else 1.

    Raises InputError for a damaged study.json.
    """
    for name in names:
        for path in (Path(name) / STUDY_FILE, results / name / STUDY_FILE):
            if path.is_file():
                about = read_object(path, STUDY.where, STUDY.most_bytes).get("about")
                found = about.get(LOOKS, 1) if isinstance(about, dict) else 1
                return found if isinstance(found, int) and 0 < found <= _MOST_LEVELS else 1
    return 1


def matrix_runs(path: Path) -> list[Path]:
    """Return the directories of a matrix's valid runs, without failed and noisy ones."""
    return sorted(run for run in (path / RUNS).glob("[!_.]*") if NOISY_MARK not in run.name)


def runs_table(paths: Iterable[Path], further: Further | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table of some run directories, with a column for each key of their specs, and notes on omitted runs.

    The kernel is the one that ran, even if the spec names another. further: metrics in addition to `METRICS`. Raises
    InputError.
    """
    runs: list[Run] = []
    failed: list[str] = []
    for path in dict.fromkeys(path.resolve() for path in paths):
        with suppress(NothingMeasuredError):
            run = read_run(path)
            if not run.failure:
                runs.append(run)
                continue
        failed.append(printable(path.name))
    if not runs:
        raise InputError("none of these runs succeeded: 'wblab why --pauses RUN' shows why a run failed")
    specs = [_keys(run) for run in runs]
    _add_builds(runs, specs)
    keys = list(dict.fromkeys(key for spec in specs for key in spec))
    rows = with_zeros(metric_rows(run, further) for run in runs)
    frames = [
        with_cell(
            metrics_frame(run, own).assign(seed=run.spec.seed, noisy=is_noisy(run)),
            {key: spec.get(key, NONE) for key in keys},
        )
        for run, spec, own in zip(runs, specs, rows, strict=True)
    ]
    notes = (f"failed runs, left out: {', '.join(failed)}",) if failed else ()
    return pd.concat(frames, ignore_index=True), notes


def found_observations(
    names: Sequence[str],
    results: Path,
    by: Sequence[str] = (),
    baseline: Mapping[str, str] | None = None,
    further: Further | None = None,
) -> Observations:
    """Return the observations in runs, named as on the command line, or in one matrix.

    further: metrics of runs in addition to `METRICS`; a matrix has only the ones that its file requests. Raises
    InputError.
    """
    tables = [path for name in names for path in (Path(name), results / name) if is_table(path)]
    if not tables:
        runs = [find_run(name, results) for name in names]
        table, notes = runs_table(runs, further)
        return observations(table, by, baseline, (*notes, *_kernel_notes(table)))
    if len(names) > 1:
        raise InputError(f"{tables[0]} is the table of a matrix: give it alone, or give runs")
    table = read_table(tables[0])
    return observations(table, by, baseline, (*matrix_notes(tables[0]), *_kernel_notes(table)))


def _kernel_notes(table: pd.DataFrame) -> Iterator[str]:
    """Yield what to know where runs are of several kernels: what two builds differ by."""
    if any(_is_build(str(name)) and table[name].nunique() > 1 for name in table.columns):
        yield OF_BUILDS


def observations(
    table: pd.DataFrame,
    by: Sequence[str] = (),
    baseline: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Observations:
    """Return the observations in a table: its axes are the columns with more than one level, or those of `by`.

    `baseline` names the level of an axis that the others are compared with; by default the first in the table.
    Noisy runs are left out, and exact repeats count as one run. Axes that only change together become one. Raises
    InputError.
    """
    said = list(notes)
    columns = [str(name) for name in table.columns if name not in _NOT_AXES]
    for name in [*by, *(baseline or {})]:
        if name not in columns:
            raise InputError(f"the runs have no key {name!r}{nearest(name, columns)}")
    table = table.assign(**{name: table[name].map(_text) for name in columns})
    table = _without_noisy(table, said)
    unusable = ~np.isfinite(table["value"].astype(float))
    if unusable.any():
        said.append(f"values left out because they are not numbers: {int(unusable.sum())}")
        table = table[~unusable]
    varied = [name for name in columns if table[name].nunique() > 1]
    if uniform := [name for name in by if name not in varied]:
        level = table[uniform[0]].iloc[0] if len(table) else "nothing"
        raise InputError(f"all runs have {uniform[0]} = {level}: give runs that differ in it")
    if not varied:
        raise InputError("all runs have the same spec except for the seed: give another group to compare")
    axes = _merged(table, varied, by, said)
    table = _without_repeats(table, axes, said)
    levels = {name: tuple(dict.fromkeys(table[name])) for name in axes}
    if (count := sum(map(len, levels.values()))) > _MOST_LEVELS:
        raise InputError(f"the runs differ in {len(axes)} keys with {count} levels: compare fewer, or give --by KEY")
    for name, level in (baseline or {}).items():
        if name not in axes:
            continue
        if level not in levels[name]:
            known = list(levels[name])
            raise InputError(f"no run has {name} = {level}{nearest(level, known)}: it is one of {', '.join(known)}")
        levels[name] = (level, *(other for other in levels[name] if other != level))
    kept = [*axes, "seed", *COLUMNS]
    return Observations(table[kept].reset_index(drop=True), levels, tuple(by) or tuple(axes), tuple(said))


def _keys(run: Run) -> dict[str, str]:
    """Return a run's spec as dotted keys, without the seed, and with the kernel that ran: its options are keys too."""
    spec = run.spec
    if isinstance(spec, Spec):
        name, options = options_in(spec.kernel.build)
        spec = replace(spec, kernel=replace(spec.kernel, name=name, config={**options}))
    flat = {_KERNEL if key == "kernel.name" else key: value for key, value in _flat(to_table(spec)).items()}
    flat["name"] = flat["name"].removesuffix(f"-s{flat.pop('seed')}")  # a study names its runs after cell and seed
    kernel = run.record.get("kernel")
    if isinstance(kernel, dict) and kernel.get("release"):
        flat["kernel"] = f"{kernel['release']}{variants_of(flat.get('kernel', ''))}"
    return flat


def _flat(table: Mapping[str, Any], path: str = "") -> dict[str, str]:
    result: dict[str, str] = {}
    for key, value in table.items():
        result |= _flat(value, f"{path}{key}.") if isinstance(value, Mapping) else {f"{path}{key}": _text(value)}
    return result


def _add_builds(runs: Sequence[Run], specs: Sequence[dict[str, str]]) -> None:
    """Add the build to the kernel's release where runs have several builds of one release with the same options."""
    builds = [str((run.record.get("kernel") or {}).get("build_id") or "") for run in runs]
    of_kernel: dict[tuple[tuple[str, str], ...], set[str]] = {}
    kernels = [tuple(item for item in spec.items() if _is_build(item[0])) for spec in specs]
    for kernel, build in zip(kernels, builds, strict=True):
        of_kernel.setdefault(kernel, set()).add(build)
    for spec, kernel, build in zip(specs, kernels, builds, strict=True):
        if len(of_kernel[kernel]) > 1:
            spec[_KERNEL] = f"{spec[_KERNEL]} ({build[:8]})"


def _is_build(key: str) -> bool:
    """Whether a key, or an axis, decides which kernel ran."""
    return key == _KERNEL or key.startswith("kernel.config.")


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value)) or NONE
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    missing = value is None or (isinstance(value, float) and math.isnan(value))  # NaN: a CSV file has no None
    return NONE if missing or value == "" else str(value)


def _without_noisy(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    if NOISY_COLUMN not in table.columns:
        return table
    noisy = table[NOISY_COLUMN].map(lambda value: str(value).lower() in {"true", "1", "1.0"}).astype(bool)
    if noisy.any():
        count = table[noisy]["run"].nunique()
        notes.append(f"noisy runs, left out (control load stalled: the host disturbed them): {count}")
    if noisy.all():
        raise InputError(
            "every run is noisy (control load stalled): repeat them on a quieter machine or with the virtual clock"
        )
    return table[~noisy]


def _merged(table: pd.DataFrame, axes: Sequence[str], by: Sequence[str], notes: list[str]) -> list[str]:
    """Return the axes without those that change only together with another; no run can separate such axes."""
    found: dict[tuple[int, ...], list[str]] = {}
    ends_unset = {
        name: table[name].iloc[-1] == NONE for name in axes
    }  # prefer an axis with a value over one that is unset
    for name in sorted(axes, key=lambda name: (name not in by, name != "name", ends_unset[name], axes.index(name))):
        found.setdefault(tuple(pd.factorize(table[name])[0].tolist()), []).append(name)
    for first, *rest in found.values():
        if rest:
            few = ", ".join(rest[:4]) + (f" and {len(rest) - 4} more" if len(rest) > 4 else "")
            notes.append(f"{first} always changes together with {few}: these runs cannot show which of them matters")
    kept = {names[0] for names in found.values()} | set(by)
    return [name for name in axes if name in kept]


def _without_repeats(table: pd.DataFrame, axes: Sequence[str], notes: list[str]) -> pd.DataFrame:
    """Return the table without exact repeats of a run with the same seed, which are no additional samples."""
    seen: set[object] = set()
    repeats: list[tuple[Hashable, ...]] = []
    keys = [*axes, "seed", "run"]
    for key, part in table.groupby(keys, sort=False):
        values = tuple(sorted(zip(part["load"], part["metric"], part["value"], strict=True)))
        mark = (*key[:-1], values)
        repeats += [key] if mark in seen else []
        seen.add(mark)
    if not repeats:
        return table
    notes.append(f"exact repeats of a run with the same seed, left out: {len(repeats)}")
    index = pd.MultiIndex.from_frame(table[keys])
    return table[~index.isin(repeats)]
