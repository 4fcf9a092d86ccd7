"""The report of a verification: one page with its figures inside, and the verdicts as JSON."""

import base64
from html import escape
from pathlib import Path

from wblab.claims.base import MOST, Claim, Effect, Verdict
from wblab.claims.cases import CASES
from wblab.claims.chart import figures
from wblab.claims.result import Result, figure_text
from wblab.core.errors import WblabError
from wblab.core.files import replace_file
from wblab.lab.formats import REPORT, VERDICTS, write_json

_CLASSES = {"reproduced": "yes", "not reproduced": "no", "can't be tested here": "open"}
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #888 }
td.figure { white-space: nowrap }
.yes, .no, .open { font-weight: 600; white-space: nowrap }
.yes { color: #14691f } .no { color: #a3261b } .open { color: #666 }
small { color: #666 }
tr.source td { background: #f3f3f3; font-weight: 600 }
figure { margin: 2rem 0 } img { max-width: 100% } figcaption { color: #444 }
"""


def write_report(result: Result, directory: Path) -> Path:
    """Write the page, its figures and verdicts.json, and return the page. Raises WblabError."""
    try:
        drawn = list(figures(result.samples, directory))
        write_json(directory / VERDICTS, result.to_json(directory))
        page = directory / REPORT
        with replace_file(page) as file:
            file.write(_page(result, drawn).encode())
    except OSError as error:
        raise WblabError(f"cannot write the report into {directory}: {error.strerror}") from None
    return page


def _page(result: Result, drawn: list[tuple[Path, str]]) -> str:
    release = escape(str(result.kernel["release"]))
    title = f"The thesis's claims on Linux {release}"
    counts = ", ".join(f'<span class="{cls}">{result.count(name)} {name}</span>' for name, cls in _CLASSES.items())
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>',
        f"<h1>{title}</h1><p>{counts}.</p>",
        "<p>Claims of A. Mendez, <i>Analysis and mitigation of writeback cache lock-ups in Linux</i> (UPC, 2020), "
        f"each checked on runs in virtual time, {result.seeds} seed{'' if result.seeds == 1 else 's'} each "
        f"({result.wall_s:.0f} s in all). A claim is reproduced if it holds for at least {MOST:.0%} of the seeds. "
        "A figure is the median over seeds, in parentheses the least and the greatest; one with × is a change against "
        "the run without it, as the geometric mean of the seeds' ratios, in parentheses its 95 % interval. "
        "A claim that is not reproduced is a finding about this kernel in this lab.</p>",
        "<table><tr><th>claim<th>verdict<th>figure<th>what was measured, and what was found</tr>",
    ]
    source = ""
    for claim, verdict in result.verdicts:
        if claim.source != source:
            source = claim.source
            parts.append(f'<tr class="source"><td colspan="4">{escape(source)}</td></tr>')
        parts.append(_row(claim, verdict))
    parts.append("</table><h2>Figures</h2>")
    parts += [_figure(path, what) for path, what in drawn]
    parts.append("<h2>Runs</h2><table><tr><th>case<th>what<th>spec<th>runs</tr>")
    for case, samples in result.samples.items():
        known = CASES[case]
        spec = " ".join([known.preset, *(f"--set {setting}" for setting in known.settings)])
        names = ", ".join(f"seed {item.run.spec.seed}" for item in samples)
        cells = (case, known.what, f"wblab run {spec}", names)
        parts.append("<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "</tr>")
    parts.append(
        "</table><p><small>Besides, openat and the end of writing of inodes are traced where a claim looks at them. "
        f"Kernel build {escape(str(result.kernel.get('build_id', '')))[:16]}. All figures, "
        f"seed by seed, and the runs' directories: {VERDICTS}.</small></p></html>\n"
    )
    return "\n".join(parts)


def _row(claim: Claim, verdict: Verdict) -> str:
    what = f"{escape(verdict.effect.what)}: {_values(verdict.effect)}<br>" if verdict.effect else ""
    return (
        f"<tr><td>{escape(claim.says)}<br><small>{claim.name}</small>"
        f'<td class="{_CLASSES[verdict.outcome]}">{escape(verdict.outcome)}'
        f'<td class="figure">{escape(figure_text(verdict.effect))}'
        f"<td>{escape(verdict.why)}<br><small>{what}</small></tr>"
    )


def _values(effect: Effect) -> str:
    return ", ".join(f"{value:.3g}" for value in effect.values)


def _figure(path: Path, what: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    text = escape(what)
    return f'<figure><figcaption>{text}</figcaption><img alt="{text}" src="data:image/png;base64,{data}"></figure>'
