"""What Prometheus' own checker says of the exported text, of the alerts and of the dashboard's queries."""

import json
import shutil
import subprocess

import pytest
import yaml
from prometheus_client.exposition import generate_latest
from support.gauged import RULES

from wblab.lab.places import ROOT
from wblab.live.gauge.catalogue import METRICS
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.export import registry_of

DASHBOARD = ROOT / "misc" / "prometheus" / "dashboard.json"
PROGRAM = shutil.which("promtool")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="promtool is not installed: the package prometheus has it")

# Series as the gauge would export them, scraped each 15 s: at 2 minutes one alert fires, with these labels.
FIRING = {
    "WblabWritersStopped": ("wblab_dirty_throttled_long_calls_total", "0x4 1x4", {"disk": "sda"}),
    "WblabProgramsBlocked": ("wblab_tasks_blocked_seconds_total", "0x4 1x4", {"of": "program"}),
    "WblabFlusherIdle": ("wblab_flusher_idle_wakeups_total", "0x4 30x4", {"disk": "sdb"}),
}


def promtool(*words, text=""):
    """Run the checker. Return its exit code and what it said."""
    done = subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_exported_text_is_as_prometheus_wants_it():
    counts = Counts()
    for metric in METRICS:
        counts.begin(metric, *(f'a "{label}"\\\n' for label in metric.labels))
    assert promtool("check", "metrics", text=generate_latest(registry_of(counts)).decode()) == (0, "")


def test_the_queries_of_the_dashboard_are_valid(tmp_path):
    expressions = [
        target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"] for target in panel["targets"]
    ]
    chosen = [text.replace("$instance", "m.*").replace("$__rate_interval", "1m") for text in expressions]
    assert "$" not in "".join(chosen)
    records = [{"record": f"query:{number}", "expr": text} for number, text in enumerate(chosen)]
    path = tmp_path / "queries.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))
    code, said = promtool("check", "rules", str(path))
    assert (code, f"{len(expressions)} rules found" in said) == (0, True), said


def test_each_alert_fires_on_its_own_series_and_on_none_that_stands_still(tmp_path):
    rules = {rule["alert"]: rule for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}
    assert rules.keys() == FIRING.keys()
    cases = []
    for name, (counter, values, of) in FIRING.items():
        labels = {"instance": "m", **of}
        texts = rules[name]["annotations"]
        for label, value in labels.items():
            texts = {key: text.replace(f"{{{{ $labels.{label} }}}}", value) for key, text in texts.items()}
        fires = {"exp_labels": labels | rules[name]["labels"], "exp_annotations": texts}
        series = counter + "{" + ", ".join(f'{label}="{value}"' for label, value in labels.items()) + "}"
        for given, expected in ((values, {name: [fires]}), ("7x8", {})):
            alerts = [{"eval_time": "2m", "alertname": rule, "exp_alerts": expected.get(rule, [])} for rule in rules]
            inputs = [{"series": series, "values": given}]
            cases.append({"interval": "15s", "input_series": inputs, "alert_rule_test": alerts})
    path = tmp_path / "tests.yml"
    path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "15s", "tests": cases}))
    code, said = promtool("test", "rules", str(path))
    assert code == 0, said
