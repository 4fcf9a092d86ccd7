"""The report of an exploration with its pictures."""

from wblab.analysis.sensitivity.analysis import Analysis
from wblab.analysis.sensitivity.observed import Observed
from wblab.plot.comparison import svg
from wblab.plot.exploration import exploration_figures
from wblab.report.explorationreport import report
from wblab.report.report import Report


def drawn_report(analysis: Analysis, observed: Observed, title: str) -> Report:
    """Return the report of an exploration's analysis, with pictures."""
    figures = {
        finding.response: {
            name: svg(figure) for name, figure in exploration_figures(analysis, observed, finding).items()
        }
        for finding in analysis.findings
    }
    return report(analysis, observed, title, figures)
