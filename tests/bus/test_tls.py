"""`rediss://`: Redis over TLS only, with a password."""

import shutil
import subprocess
from pathlib import Path

import pytest
from service_kinds import Redis
from service_process import ServiceNotStarted, free_ports, send_request

from bus.buses import PASSWORD, bus_server, next_message, wait_for_log, wait_live


class TlsRedis(Redis):
    def __init__(self, folder: Path, port: int, password: str, certificate: Path, key: Path) -> None:
        super().__init__(folder, port, password)
        self._files = {"tls-cert-file": certificate, "tls-key-file": key, "tls-ca-cert-file": certificate}

    def command(self) -> list[str]:
        program, settings = super().command()
        lines = [line for line in Path(settings).read_text().split("\n") if not line.startswith("port ")]
        lines += ["port 0", f"tls-port {self.port}", "tls-auth-clients no"]
        lines += [f"{name} {path}" for name, path in self._files.items()]
        Path(settings).write_text("\n".join(lines))
        return [program, settings]

    def answers(self) -> bool:
        return send_request(self.port, b"not TLS at all\r\n\r\n") != b"" or "Ready to accept" in self.log.read_text()


def _start(server: TlsRedis) -> None:
    try:
        server.start()
    except ServiceNotStarted as error:
        if "tls-port" not in str(error):
            raise
        pytest.skip("this Redis was built without TLS, as the one in a wheel is")


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
async def test_a_bus_over_tls_is_used_if_its_certificate_is_known_and_not_otherwise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    server = TlsRedis(tmp_path / "server", free_ports(1)[0], PASSWORD, certificate, key)
    _start(server)
    try:
        url = server.url(1).replace("redis://", "rediss://")
        async with bus_server(f"{url}?ssl_ca_certs={certificate}", tmp_path) as meeting:
            here, there = await meeting.open(), await meeting.open()
            with there.listen("run:a") as listener:
                await wait_live(listener)
                here.publish("run:a", b"over TLS")
                assert await next_message(listener) == b"over TLS"
        assert caplog.text == ""
        async with bus_server(url, tmp_path) as meeting:
            bus = await meeting.open()
            with bus.listen("run:a") as listener:
                await wait_for_log(caplog, "cannot be used")
                assert not await listener.wait_ready(0.1)
        assert PASSWORD not in caplog.text
    finally:
        server.stop()
