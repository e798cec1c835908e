"""Runs each proxy with its shipped settings; only addresses, folders and certificates are replaced."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from shape.tree import ROOT

SECONDS = 60
FOLDER = ROOT / "deploy" / "proxy"
PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/sbin:/bin"


@dataclass(frozen=True)
class ProxyKind:
    """`file`: the shipped settings. `speaks_http`: False for a proxy of TCP connections."""

    name: str
    program: str
    file: str
    speaks_http: bool = True


NGINX = ProxyKind("nginx", "nginx", "nginx.conf")
NGINX_TCP = ProxyKind("nginx-tcp", "nginx", "nginx-tcp.conf", speaks_http=False)
HAPROXY = ProxyKind("haproxy", "haproxy", "haproxy.cfg")
HAPROXY_TCP = ProxyKind("haproxy-tcp", "haproxy", "haproxy-tcp.cfg", speaks_http=False)
CADDY = ProxyKind("caddy", "caddy", "Caddyfile")
KINDS = (NGINX, NGINX_TCP, HAPROXY, HAPROXY_TCP, CADDY)


@dataclass(frozen=True)
class Ports:
    tls: int
    plain: int
    replicas: tuple[int, int]


@dataclass(frozen=True)
class Proxy:
    kind: ProxyKind
    url: str
    trust: ssl.SSLContext
    certificate: Path


def find_program(kind: ProxyKind) -> str:
    """The path of the program; skips the test where it is not installed."""
    found = shutil.which(kind.program) or shutil.which(kind.program, path=PLACES)
    if found is None:
        pytest.skip(f"{kind.program} is not installed on this machine")
    if kind is NGINX_TCP and (modules := _modules(found)) and not (modules / "ngx_stream_module.so").exists():
        pytest.skip("nginx is installed without its stream module (Debian: libnginx-mod-stream)")
    return found


@cache
def _modules(program: str) -> Path | None:
    """The folder with the stream module of nginx. None: the module is built in."""
    built = subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stderr
    options = dict(word.partition("=")[::2] for word in built.split() if word.startswith("--"))
    return None if options.get("--with-stream") == "" else Path(options.get("--modules-path", "/"))


@asynccontextmanager
async def run_proxy(kind: ProxyKind, folder: Path, ports: Ports) -> AsyncIterator[Proxy]:
    program = find_program(kind)
    certificate = _certificate(folder)
    text = (FOLDER / kind.file).read_text(encoding="utf-8")
    for old, new in _places(kind, folder, ports).items():
        assert old in text, f"{kind.file} has no {old}"
        text = text.replace(old, new)
    settings = folder / kind.file
    settings.write_text(text, encoding="utf-8")
    with (folder / "proxy.txt").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *_command(kind, program, folder, settings),
            stdout=log,
            stderr=log,
            env={"PATH": PLACES, "HOME": str(folder)},
        )
    try:
        await _wait_until_open(process, ports.tls, folder / "proxy.txt")
        trust = ssl.create_default_context(cafile=str(certificate))
        yield Proxy(kind, f"https://localhost:{ports.tls}", trust, certificate)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        async with asyncio.timeout(SECONDS):
            await process.wait()


def _command(kind: ProxyKind, program: str, folder: Path, settings: Path) -> Sequence[str]:
    match kind.program:
        case "nginx":
            return (program, "-p", str(folder), "-c", str(settings), "-g", "daemon off;")
        case "haproxy":
            return (program, "-db", "-f", str(settings))
        case _:
            return (program, "run", "--adapter", "caddyfile", "--config", str(settings))


def _places(kind: ProxyKind, folder: Path, ports: Ports) -> Mapping[str, str]:
    """The texts of the shipped file that a test replaces. Nothing else is changed."""
    replicas = {f"127.0.0.1:{port}": f"127.0.0.1:{own}" for port, own in zip((8484, 8485), ports.replicas, strict=True)}
    match kind.program:
        case "nginx":
            changed: dict[str, str] = {
                "listen 443": f"listen 127.0.0.1:{ports.tls}",
                "/etc/ssl/footnote": str(folder),
                "/var/log/nginx": str(folder),
                "/run/nginx.pid": str(folder / "nginx.pid"),
            }
            if kind.speaks_http:
                scratch = " ".join(
                    f"{name}_temp_path {folder}/{name};"
                    for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
                )
                changed |= {"listen 80": f"listen 127.0.0.1:{ports.plain}", "http {\n": f"http {{\n{scratch}\n"}
            elif (modules := _modules(find_program(kind))) is not None:
                changed |= {"load_module modules": f"load_module {modules}"}
            else:
                changed |= {"load_module modules/ngx_stream_module.so;": ""}
        case "haproxy":
            changed = {"bind :443": f"bind 127.0.0.1:{ports.tls}", "/etc/haproxy/footnote.pem": f"{folder}/both.pem"}
            if kind.speaks_http:
                changed |= {
                    "bind :80": f"bind 127.0.0.1:{ports.plain}",
                    "/etc/haproxy/no-replica.http": str(FOLDER / "no-replica.http"),
                }
        case _:
            site = "{$SITE:footnote.example} {"
            own = f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\nhttps://localhost:{ports.tls} {{\n"
            changed = {site: f"{own}\ttls {folder}/fullchain.pem {folder}/privkey.pem"}
    return {**changed, **replicas}


def _certificate(folder: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed on this machine")
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    kind = f"-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext {names}"
    command = ["openssl", "req", "-x509", *kind.split(), "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "both.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate


async def _wait_until_open(process: asyncio.subprocess.Process, port: int, output: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            assert process.returncode is None, output.read_text()
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return
