"""A real Prometheus with the shipped configuration scrapes a server, and evaluates every rule and query."""

import asyncio
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from service_process import Service, free_ports, send_request

from deploy.deploy_files import FOLDER
from server.harness import LOCAL_TOKEN, open_server, script_answer
from server.test_observing import ALERTS, queries
from upstream import Upstream

SECONDS = 60
PROGRAM = shutil.which("prometheus")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.embedded,
    pytest.mark.skipif(PROGRAM is None, reason="prometheus is not installed on this machine"),
]


class PrometheusService(Service):
    name = "Prometheus"

    def __init__(self, folder: Path, server: str) -> None:
        super().__init__(folder)
        [port] = free_ports(1)
        self._port = port
        self._server = server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def command(self) -> list[str]:
        shutil.copy(FOLDER / "prometheus" / "footnote.rules.yml", self.folder)
        token, settings = self.folder / "footnote.token", self.folder / "prometheus.yml"
        token.write_text(LOCAL_TOKEN)
        shipped = (FOLDER / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
        own = shipped.replace("/etc/prometheus/footnote.token", str(token)).replace(": 15s", ": 1s")
        settings.write_text(re.sub(r"targets: \[.*\]", f'targets: ["{self._server}"]', own), encoding="utf-8")
        return [
            str(PROGRAM),
            f"--config.file={settings}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            f"--storage.tsdb.path={self.folder / 'data'}",
        ]

    def answers(self) -> bool:
        return b" 200 " in send_request(self._port, b"GET /-/ready HTTP/1.0\r\n\r\n")


@contextmanager
def run_prometheus(folder: Path, server: str) -> Iterator[PrometheusService]:
    prometheus = PrometheusService(folder, server)
    prometheus.start()
    try:
        yield prometheus
    finally:
        prometheus.stop()


def _grafana_query(query: str) -> str:
    """The query with the variables of Grafana replaced, for all replicas."""
    return query.replace("$instance", ".*").replace("$__rate_interval", "1m").replace("$__interval", "15s")


async def _rules(http: aiohttp.ClientSession, prometheus: PrometheusService) -> list[dict[str, Any]]:
    """The name, the state and, after the first evaluation, the health of each rule."""
    async with http.get(f"{prometheus.url}/api/v1/rules") as response:
        groups = (await response.json())["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


async def test_it_reads_the_figures_and_understands_every_query(tmp_path: Path, upstream: Upstream) -> None:
    script_answer(upstream)
    async with open_server(tmp_path / "home", upstream) as server, aiohttp.ClientSession() as http:
        await server.local.ask_for_events(await server.local.create_session())
        with run_prometheus(tmp_path / "prometheus", server.url.removeprefix("http://")) as prometheus:

            async def run_query(query: str) -> Any:
                async with http.get(f"{prometheus.url}/api/v1/query", params={"query": query}) as response:
                    body = await response.json()
                assert body["status"] == "success", (query, body)
                return body["data"]["result"]

            async with asyncio.timeout(SECONDS):
                while [up["value"][1] for up in await run_query('up{job="footnote"}')] != ["1"]:
                    await asyncio.sleep(0.1)
                while len(await run_query("count_over_time(footnote_info[1m]) >= 3")) == 0:
                    await asyncio.sleep(0.1)
            results = {query: await run_query(_grafana_query(query)) for query in queries()}
            assert [query for query in queries() if "$" in _grafana_query(query)] == []
            shown = [query for query, result in results.items() if result]
            assert len(shown) > len(results) / 2, "most of the dashboard has something to show after one question"
            rules = await _rules(http, prometheus)
            async with asyncio.timeout(SECONDS):
                while any(rule["health"] == "unknown" for rule in rules):  # it was not evaluated yet
                    await asyncio.sleep(0.1)
                    rules = await _rules(http, prometheus)
    assert [rule["name"] for rule in rules] == [alert["alert"] for alert in ALERTS]
    assert {rule["health"] for rule in rules} == {"ok"}
    assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []
