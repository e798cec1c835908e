"""The files of `deploy/` match the code: what they name exists, and what they permit is what the server needs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from deploy.deploy_files import (
    FILES,
    FOLDER,
    UNITS,
    YAML,
    container,
    document,
    extras,
    kubernetes,
    seconds,
    text,
    unit,
)
from footnote.cli import COMMANDS
from footnote.config.environment import read_environ
from footnote.config.load import load
from footnote.config.settings import LimitSettings, ServerSettings
from footnote.db.postgresql.connection import COMMAND_SECONDS
from footnote.server.http_server import GRACE_SECONDS, KEEP_ALIVE_SECONDS
from footnote.server.limits import HEADER_TIMEOUT_SECONDS
from footnote.server.multipart import MAX_FILES
from footnote.server.requests import BODY_STALL_SECONDS
from footnote.server.responses import PING_SECONDS
from footnote.server.routes import ALL_ROUTES
from footnote.server.routes.files import MAX_BUNDLE_BYTES
from shape.tree import ROOT, name_of

FORM_BYTES = 1_000_000
AT_ONCE = LimitSettings().upload_bytes * MAX_FILES + FORM_BYTES
STOPPING = 2 * GRACE_SECONDS + 3 * COMMAND_SECONDS
"""Most of it while the database does not respond: events of runs, leases, accounts."""
ROUTES = {route.path for route in ALL_ROUTES}
VARIABLE = re.compile(r"\b(FOOTNOTE_[A-Z0-9_]+)\b")
IMAGE = re.compile(r"[\w./-]+:[\w.-]+")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_variable_is_a_setting(path: Path) -> None:
    # Two variables occur where the documentation says that Kubernetes would set them.
    found = set(VARIABLE.findall(path.read_text(encoding="utf-8"))) - {"FOOTNOTE_SERVICE_HOST", "FOOTNOTE_PORT"}
    _, problems = read_environ(dict.fromkeys(found, "1"), {"anthropic", "openai"})
    unknown = [str(problem) for problem in problems if "no such setting" in str(problem)]
    assert unknown == []


@pytest.mark.parametrize("path", YAML, ids=name_of)
def test_every_image_has_a_version(path: Path) -> None:
    for image in _images(document(path)):
        assert IMAGE.fullmatch(image), image
        assert not image.endswith(":latest")


def _images(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["image"]] if isinstance(value.get("image"), str) else []
        return own + [image for part in value.values() for image in _images(part)]
    return [image for part in value for image in _images(part)] if isinstance(value, list) else []


def test_the_environment_of_the_example_is_one_that_footnote_starts_with(tmp_path: Path) -> None:
    lines = [line for line in text("footnote.env.example").splitlines() if line and line[0] != "#"]
    environ = dict(line.split("=", 1) for line in lines)
    settings = load(tmp_path, None, environ).settings
    assert settings.database.url.startswith("postgresql://")
    assert settings.bus.url.startswith("redis://")
    assert settings.storage.url.startswith("s3://")
    assert (settings.server.public_url or "").startswith("https://")
    secrets = [environ[name] for name in environ if name.endswith(("_TOKEN", "_PASSWORD", "_KEY", "_KEY_ID"))]
    assert all(not secret or secret.startswith("change-me") for secret in secrets)
    assert not any(sign in line for line in lines for sign in "\"'$"), "systemd and compose read these differently"


def test_the_settings_of_kubernetes_are_ones_that_footnote_starts_with(tmp_path: Path) -> None:
    secret = document(FOLDER / "kubernetes" / "secret.example.yaml")["stringData"]
    loaded = load(tmp_path, FOLDER / "kubernetes" / "config.json", secret).settings
    assert (loaded.server.host, loaded.server.port) == ("0.0.0.0", ServerSettings().port)
    assert loaded.database.url.startswith("postgresql://")
    assert json.loads(text("kubernetes/config.json"))["logs"]["format"] == "json", "no login stands in what is kept"


# The image ------------------------------------------------------------------------------------------------------------


def test_the_image_is_of_pinned_packages_runs_as_nobody_and_holds_no_secret() -> None:
    lines = text("Dockerfile")
    bases = re.findall(r"^FROM (\S+)", lines, re.MULTILINE)
    assert bases
    assert all(IMAGE.fullmatch(base) for base in bases)
    assert "--require-hashes" in lines
    assert re.findall(r"^USER (\S+)", lines, re.MULTILINE) == ["10001:10001"]
    named = re.findall(r"\.\[([\w,]+)\]", lines)
    assert named == ["all,telemetry"]
    assert set(named[0].split(",")) <= extras()
    assert not re.search(r"(API_KEY|TOKEN|PASSWORD|SECRET)", lines)
    assert '"http://127.0.0.1:8484/healthz"'.strip('"') in lines
    assert "/healthz" in ROUTES


def test_the_image_gets_every_file_that_it_copies_and_nothing_else() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text("Dockerfile"), re.MULTILINE)
    let_in = {line[1:] for line in text("Dockerfile.dockerignore").splitlines() if line.startswith("!")}
    assert {name for line in copied for name in line.split()} == let_in
    assert all((ROOT / name).exists() for name in let_in)
    assert "*" in text("Dockerfile.dockerignore").splitlines()


def test_the_packages_of_traces_are_those_of_the_other_locks() -> None:
    here, everything, base = (
        _pins(path.read_text(encoding="utf-8"))
        for path in (
            FOLDER / "requirements-telemetry.lock",
            ROOT / "requirements-dev.lock",
            ROOT / "requirements.lock",
        )
    )
    assert {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"} <= set(here)
    assert {name: everything[name] for name in here} == here, "write it again after `make lock`"
    assert not set(here) & set(base)


def _pins(lock: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Version and hashes by name."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for block in re.split(r"\n(?=[A-Za-z0-9])", "\n" + lock):
        if match := re.match(r"([A-Za-z0-9._-]+)==(\S+)", block):
            found[match[1]] = match[2], tuple(sorted(re.findall(r"--hash=(\S+)", block)))
    return found


# Compose --------------------------------------------------------------------------------------------------------------


def test_compose_starts_things_in_an_order_in_which_they_work() -> None:
    compose = document(FOLDER / "compose.yaml")
    services = compose["services"]
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            waited = services[other]
            if how["condition"] == "service_healthy":
                assert "healthcheck" in waited or other.startswith("footnote-"), (name, other)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (FOLDER / source).exists(), volume
    replicas = [name for name in services if name.startswith("footnote-")]
    assert len(replicas) == 2
    for name in replicas:
        assert seconds(services[name]["stop_grace_period"]) >= STOPPING
        assert services[name]["depends_on"].keys() == {"postgres", "bus", "bucket"}
        assert services[name]["read_only"]
    assert services["proxy"]["environment"]["REPLICAS"] == " ".join(
        f"{name}:{ServerSettings().port}" for name in replicas
    )


def test_compose_asks_the_environment_only_for_what_the_example_has() -> None:
    variables = set(re.findall(r"\$\{([A-Z0-9_]+)", text("compose.yaml")))
    assert variables <= set(re.findall(r"^([A-Z0-9_]+)=", text("footnote.env.example"), re.MULTILINE))


# Kubernetes -----------------------------------------------------------------------------------------------------------


def test_a_pod_is_asked_where_it_answers_and_has_time_to_end() -> None:
    spec = kubernetes("Deployment")["spec"]
    pod, only = spec["template"]["spec"], container()
    assert [only[name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe")] == ["/readyz", "/healthz"]
    assert {"/readyz", "/healthz", "/metrics"} <= ROUTES
    [port] = only["ports"]
    assert port == {"name": "http", "containerPort": ServerSettings().port}
    [_, waits] = only["lifecycle"]["preStop"]["exec"]["command"]
    assert pod["terminationGracePeriodSeconds"] >= int(waits) + STOPPING
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert only["args"][0] in COMMANDS


def test_a_pod_gets_no_variable_that_footnote_would_take_for_a_wrong_setting() -> None:
    """For a Service of this name Kubernetes would set FOOTNOTE_PORT and others."""
    assert kubernetes("Service")["metadata"]["name"] == "footnote"
    assert kubernetes("Deployment")["spec"]["template"]["spec"]["enableServiceLinks"] is False


def test_a_pod_may_do_nothing_that_it_does_not_need() -> None:
    pod, only = kubernetes("Deployment")["spec"]["template"]["spec"], container()
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = {mount["mountPath"] for mount in only["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/var/lib/footnote", "/tmp"}


def test_the_parts_of_kubernetes_find_each_other() -> None:
    labels = kubernetes("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert kubernetes("Service")["spec"]["selector"].items() <= labels.items()
    assert kubernetes("PodDisruptionBudget")["spec"]["selector"]["matchLabels"].items() <= labels.items()
    monitor = kubernetes("ServiceMonitor")["spec"]
    assert monitor["selector"]["matchLabels"].items() <= kubernetes("Service")["metadata"]["labels"].items()
    secret = kubernetes("Secret")
    [endpoint] = monitor["endpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": secret["metadata"]["name"], "key": "FOOTNOTE_TOKEN"}
    assert container()["envFrom"] == [{"secretRef": {"name": secret["metadata"]["name"]}}]
    listed = document(FOLDER / "kubernetes" / "kustomization.yaml")["resources"]
    assert all((FOLDER / "kubernetes" / name).exists() for name in listed)
    assert "secret.example.yaml" not in listed


# Proxies --------------------------------------------------------------------------------------------------------------


def test_an_ingress_collects_nothing_and_lets_through_what_footnote_takes() -> None:
    prefix = "nginx.ingress.kubernetes.io/"
    notes = {
        name.removeprefix(prefix): value for name, value in kubernetes("Ingress")["metadata"]["annotations"].items()
    }
    assert (notes["proxy-buffering"], notes["proxy-request-buffering"]) == ("off", "off")
    assert min(seconds(notes["proxy-read-timeout"]), seconds(notes["proxy-send-timeout"])) > 4 * PING_SECONDS
    assert _mebibytes(notes["proxy-body-size"]) >= AT_ONCE


def _mebibytes(value: str) -> int:
    [number] = re.findall(r"^(\d+)(?:m|MiB)$", value)
    return int(number) * 1024 * 1024


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile", "haproxy.cfg"])
def test_a_proxy_lets_through_what_footnote_takes_at_once(name: str) -> None:
    limits = re.findall(r"(?:client_max_body_size|max_size|content-length\) gt) (\d+(?:m|MiB)?)", text(f"proxy/{name}"))
    assert len(limits) == 1
    limit = int(limits[0]) if limits[0].isdecimal() else _mebibytes(limits[0])
    assert limit >= max(AT_ONCE, MAX_BUNDLE_BYTES)
    assert limit < AT_ONCE * 1.01


@pytest.mark.parametrize(
    ("name", "silence"),
    [
        ("nginx.conf", r"proxy_read_timeout (\w+);"),
        ("nginx-tcp.conf", r"proxy_timeout (\w+);"),
        ("haproxy.cfg", r"timeout (?:client|server) (\w+)"),
        ("haproxy-tcp.cfg", r"timeout (?:client|server) (\w+)"),
        ("Caddyfile", r"response_header_timeout (\w+)"),
        ("traefik/dynamic.yaml", r"responseHeaderTimeout: (\w+)"),
    ],
)
def test_no_proxy_takes_the_silence_between_two_pings_for_the_end(name: str, silence: str) -> None:
    found = re.findall(silence, text(f"proxy/{name}"))
    assert found
    assert all(seconds(value) > 4 * PING_SECONDS for value in found)


@pytest.mark.parametrize(
    ("name", "idle"),
    [
        ("nginx.conf", r"\n\s+keepalive_timeout (\w+);"),
        ("Caddyfile", r"\bkeepalive (\w+)"),
        ("traefik/dynamic.yaml", r"idleConnTimeout: (\w+)"),
    ],
)
def test_no_proxy_keeps_a_connection_that_footnote_has_closed(name: str, idle: str) -> None:
    [value] = re.findall(idle, text(f"proxy/{name}"))
    assert seconds(value) < KEEP_ALIVE_SECONDS


def test_a_proxy_waits_for_a_body_no_shorter_than_footnote() -> None:
    nginx = text("proxy/nginx.conf")
    assert seconds(re.findall(r"client_body_timeout (\w+);", nginx)[0]) >= BODY_STALL_SECONDS
    assert seconds(re.findall(r"client_header_timeout (\w+);", nginx)[0]) >= HEADER_TIMEOUT_SECONDS
    static = document(FOLDER / "proxy" / "traefik" / "traefik.yaml")
    times = static["entryPoints"]["websecure"]["transport"]["respondingTimeouts"]
    assert (times["readTimeout"], times["writeTimeout"]) == ("3600s", "0s")


@pytest.mark.parametrize("name", ["haproxy.cfg", "haproxy-tcp.cfg", "Caddyfile", "traefik/dynamic.yaml"])
def test_a_proxy_that_can_asks_for_the_readiness_of_each_replica(name: str) -> None:
    assert re.search(r"(uri|health_uri|path:) /readyz", text(f"proxy/{name}"))


# systemd --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_a_unit_gives_time_to_end_and_room_for_streams(path: Path) -> None:
    settings = dict(unit(path))
    assert seconds(settings["TimeoutStopSec"]) >= STOPPING
    assert int(settings["LimitNOFILE"]) >= 20_000
    assert settings["KillMode"] == "mixed", "workers are not to be ended before the server has ended their jobs"
    assert settings["OOMPolicy"] == "continue"
    command = settings["ExecStart"].split()
    assert command[0] == "/opt/footnote/bin/footnote"
    assert command[1] in COMMANDS
    assert settings["Environment"].removeprefix("FOOTNOTE_HOME=") == f"/var/lib/{settings['StateDirectory']}"


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_a_unit_leaves_the_workers_the_calls_by_which_they_give_up_their_rights(path: Path) -> None:
    """Without these three the parsers could read every file that the server can, and no message would say so."""
    allowed = next(value for name, value in unit(path) if name == "SystemCallFilter" and value[0] != "~")
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"} <= set(allowed.split())
    assert ("ProcSubset", "pid") not in unit(path), "the metrics of the process need /proc/stat"


def test_both_units_are_confined_alike() -> None:
    by_itself, replica = (unit(path) for path in UNITS)
    own = {"Description", "After", "EnvironmentFile", "Environment", "StateDirectory", "WorkingDirectory", "ExecStart"}
    assert [one for one in by_itself if one[0] not in own] == [one for one in replica if one[0] not in own]
