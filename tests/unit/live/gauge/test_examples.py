"""The examples in misc/prometheus and the table on the page name what is exported, and nothing else."""

import json
import re

import yaml
from support.gauged import rules

from wblab.lab.places import ROOT
from wblab.live.gauge.blocked import KIND_NAMES, OF
from wblab.live.gauge.catalogue import METRICS, SOURCES

RULES = ROOT / "misc" / "prometheus" / "wblab.rules.yml"
DASHBOARD = ROOT / "misc" / "prometheus" / "dashboard.json"
PAGE = ROOT / "docs" / "how-to" / "live.md"
BY_NAME = {metric.name: metric for metric in METRICS}
LABELS = {label for metric in METRICS for label in metric.labels}
OF_SCRAPES = {"instance", "job"}


def check(expression):
    """Check that an expression names exported metrics, and labels and values that these have."""
    names = re.findall(r"wblab_\w+", expression)
    assert names
    assert set(names) <= BY_NAME.keys()
    known = {label for name in names for label in BY_NAME[name].labels} | OF_SCRAPES
    assert set(re.findall(r'(\w+)=~?"', expression)) <= known
    for group in re.findall(r"(?:by|without) \(([^)]*)\)", expression):
        assert set(group.split(", ")) <= known
    assert set(re.findall(r'\bof="(\w+)"', expression)) <= set(OF)
    assert set(re.findall(r'\bkind="([^"]+)"', expression)) <= set(KIND_NAMES)
    return known


def test_alerts_are_of_exported_metrics_and_their_texts_name_their_labels():
    groups = yaml.safe_load(RULES.read_text())["groups"]
    (group,) = groups
    for rule in group["rules"]:
        assert set(rule) == {"alert", "expr", "labels", "annotations"}
        known = check(rule["expr"])
        said = " ".join(rule["annotations"].values())
        assert set(re.findall(r"\$labels\.(\w+)", said)) <= known
    # What the study of recorded runs evaluates is what the file says.
    assert [rule.name for rule in rules()] == [rule["alert"] for rule in group["rules"]]


def test_the_dashboard_draws_exported_metrics():
    dashboard = json.loads(DASHBOARD.read_text())
    drawn = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            known = check(target["expr"])
            drawn |= set(re.findall(r"wblab_\w+", target["expr"]))
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= known
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    left_out = {name for name in BY_NAME if name not in drawn}
    assert all(
        "completed" in name or "request" in name or "interval" in name or "read" in name or "lost" in name
        for name in left_out
    )


def test_the_page_lists_each_metric_with_its_labels_and_source():
    rows = re.findall(r"^\| `(wblab_\w+)(?:\{([\w, ]+)\})?` \| (\w+) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    assert [(name, tuple(labels.split(", ")) if labels else (), source) for name, labels, source, _ in rows] == [
        (metric.name, metric.labels, metric.source) for metric in METRICS
    ]
    for (name, _, _, said), metric in zip(rows, METRICS, strict=True):
        assert said == metric.about.removesuffix("."), name


def test_the_page_says_where_each_source_is_read():
    text = PAGE.read_text()
    for source, place in SOURCES.items():
        if source != "gauge":
            assert f"| {source} | {place} |" in text
