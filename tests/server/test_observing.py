"""The documentation, the dashboard and the alerts name existing metrics, and the documentation names all."""

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from prometheus_client.metrics_core import CounterMetricFamily

import footnote
from footnote.server import logs
from footnote.tracing import ALL_COUNTERS, ALL_OPERATIONS
from server.harness import ServerHarness, wait_for_bus
from shape.tree import ROOT

PAGE = (ROOT / "docs" / "observing.md").read_text(encoding="utf-8")
OPERATIONS = ROOT / "docs" / "operations.md"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "footnote.json").read_text(encoding="utf-8"))
RULES = yaml.safe_load((ROOT / "deploy" / "prometheus" / "footnote.rules.yml").read_text(encoding="utf-8"))
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
ROW = re.compile(r"^\| `(footnote_\w+)` \| (.*?) ?\| (.+) \|$", re.MULTILINE)
NAME = re.compile(r"\b(?:footnote|process)_[a-z_]+\b")
PLACES = ("instance", "job", "le")
"""Labels that Prometheus adds, or that every histogram has."""


def documented_metrics() -> dict[str, list[str]]:
    return {name: re.findall(r"`(\w+)`", labels) for name, labels, _ in ROW.findall(PAGE)}


def series() -> set[str]:
    """The documented series of the metrics."""
    parts = {
        f"{name}_{part}"
        for name in documented_metrics()
        for part in ("bucket", "sum", "count")
        if name.endswith("_seconds")
    }
    process = {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds"}
    return {*documented_metrics(), *parts, *process, "process_start_time_seconds"}


async def test_every_metric_is_on_the_page_with_its_labels_and_no_other_is(server: ServerHarness):
    for module in pkgutil.walk_packages(footnote.__path__, "footnote."):
        if module.name not in ("footnote.__main__", "footnote.server.traces"):
            importlib.import_module(module.name)
    await server.local.ask_for_events(await server.local.create_session())
    series: dict[str, list[str]] = {}
    for family in server.site.metrics.collect():
        name = f"{family.name}_total" if isinstance(family, CounterMetricFamily) else family.name
        of_samples = family.samples[0].labels if family.samples else {}
        series[name] = [label for label in of_samples if label != "le"]
    series |= {f"footnote_{work.name}_seconds": [*work.labels, "outcome"] for work in ALL_OPERATIONS.values()}
    series |= {f"footnote_{count.name}_total": list(count.labels) for count in ALL_COUNTERS.values()}
    assert series == documented_metrics()


async def test_the_figures_of_the_process_are_there(server: ServerHarness):
    text = (await server.local.request("GET", "/metrics")).body.decode()
    named = {name for name in NAME.findall(PAGE) if name.startswith("process_")}
    assert {name for name in named if f"\n{name} " not in text} == set()


async def test_what_a_run_does_is_counted(server: ServerHarness):
    await wait_for_bus(server)
    await server.local.ask_for_events(await server.local.create_session())
    text = (await server.local.request("GET", "/metrics")).body.decode()
    for sample in (
        r'footnote_run_seconds_count{outcome="done"} [1-9]',
        r'footnote_round_seconds_count{outcome="ok"} [1-9]',
        r'footnote_model_call_seconds_count{model="[^"]+",outcome="ok"} [1-9]',
        r'footnote_model_tokens_total{kind="output",model="[^"]+"} [1-9]',
        r'footnote_database_write_seconds_bucket{le="\+Inf",outcome="ok"} [1-9]',
        r'footnote_request_seconds_count{outcome="2xx",route="POST /v2/sessions"} [1-9]',
        r'footnote_bus_connected{kind="[a-z]+"} 1',
        r"footnote_runs_started_total [1-9]",
    ):
        assert re.search(f"^{sample}", text, re.MULTILINE), sample


def panels() -> Iterator[dict[str, Any]]:
    for panel in DASHBOARD["panels"]:
        yield panel
        yield from panel.get("panels", ())


def queries() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel.get("targets", ())] + [
        rule["expr"] for rule in ALERTS
    ]


def test_the_dashboard_has_its_rows_and_its_data_source_is_a_choice():
    rows = [panel["title"] for panel in panels() if panel["type"] == "row"]
    assert [row.split(",")[0] for row in rows] == [
        *("Runs", "Streams", "Latency", "Database", "Bus", "Storage", "Models", "Tools", "Process"),
    ]
    sources = {json.dumps(panel["datasource"]) for panel in panels() if "datasource" in panel}
    assert sources == {json.dumps({"type": "prometheus", "uid": "${datasource}"})}
    assert len({panel["id"] for panel in panels()}) == len(list(panels()))


@pytest.mark.parametrize("query", queries())
def test_a_query_asks_for_metrics_and_labels_that_there_are(query: str):
    names = set(NAME.findall(query))
    assert names - series() == set()
    known = {
        label for name in names for label in documented_metrics().get(re.sub(r"_(bucket|sum|count)$", "", name), ())
    }
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(", ")}
    chosen = set(re.findall(r"(\w+)\s*(?:=~|!=|=)\s*\"", query))
    assert (grouped | chosen) - known - {*PLACES} == set()


def test_every_panel_shows_metrics_of_the_page_and_every_metric_is_in_a_panel():
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for query in queries() for name in NAME.findall(query)}
    assert set(documented_metrics()) - shown == set()


@pytest.mark.parametrize("rule", ALERTS, ids=[rule["alert"] for rule in ALERTS])
def test_an_alert_says_what_happens_and_leads_to_what_to_do(rule: dict[str, Any]):
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"].endswith((".", "in."))
    assert rule["annotations"]["runbook_url"] == f"docs/operations.md#{rule['alert'].lower()}"
    headings = re.findall(r"^#+ (\w+)$", OPERATIONS.read_text(encoding="utf-8"), re.MULTILINE)
    assert rule["alert"] in headings


def test_the_example_for_prometheus_reads_the_alerts_and_sends_a_token():
    text = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    [job] = yaml.safe_load(text)["scrape_configs"]
    assert yaml.safe_load(text)["rule_files"] == ["footnote.rules.yml"]
    assert (job["job_name"], job["metrics_path"], job["authorization"]["type"]) == ("footnote", "/metrics", "Bearer")


def test_every_field_of_a_line_is_on_the_page():
    below = PAGE.split("| field |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split(" | ")[0] for line in below.splitlines())))
    fixed = {"time", "level", "logger", "message", "replica", "traceback"}
    assert named == {*logs.FIELDS, *fixed}
