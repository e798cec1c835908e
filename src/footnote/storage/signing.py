"""Signatures of S3's protocol (AWS Signature, version 4). Pure: the moment is an argument, and nothing is sent."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()
UNSIGNED = "UNSIGNED-PAYLOAD"


class Credentials(Struct, frozen=True):
    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        """Never the keys: values are shown in logs and errors."""
        return "Credentials(***)"


class Signer(Struct, frozen=True):
    """What is the same in all signatures of one storage."""

    credentials: Credentials
    region: str
    service: str = "s3"

    def __repr__(self) -> str:
        return f"Signer({self.region!r}, {self.service!r})"

    def headers(
        self, method: str, host: str, path: str, *, sha256: str, moment: datetime, **named: str
    ) -> dict[str, str]:
        """What is sent with a request whose body has this hash. `path` is percent-encoded; `named` are signed too."""
        signed = {
            **{name.replace("_", "-"): value for name, value in named.items()},
            "host": host,
            "x-amz-content-sha256": sha256,
            "x-amz-date": _written(moment),
        }
        if self.credentials.session_token is not None:
            signed["x-amz-security-token"] = self.credentials.session_token
        names = ";".join(sorted(signed))
        signature = self._signature(_canonical(method, path, {}, signed, sha256), moment)
        key = f"{self.credentials.access_key}/{self._scope(moment)}"
        authorization = f"{ALGORITHM} Credential={key}, SignedHeaders={names}, Signature={signature}"
        del signed["host"]  # the client says it itself
        return {**signed, "authorization": authorization}

    def query(
        self, method: str, host: str, path: str, *, moment: datetime, seconds: int, asked: Mapping[str, str]
    ) -> str:
        """The query of an address with which anybody may do this until it is over."""
        fields = {
            **asked,
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self.credentials.access_key}/{self._scope(moment)}",
            "X-Amz-Date": _written(moment),
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        if self.credentials.session_token is not None:
            fields["X-Amz-Security-Token"] = self.credentials.session_token
        signature = self._signature(_canonical(method, path, fields, {"host": host}, UNSIGNED), moment)
        return f"{_encoded(fields)}&X-Amz-Signature={signature}"

    def _scope(self, moment: datetime) -> str:
        return f"{moment:%Y%m%d}/{self.region}/{self.service}/aws4_request"

    def _signature(self, canonical: str, moment: datetime) -> str:
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        to_sign = f"{ALGORITHM}\n{_written(moment)}\n{self._scope(moment)}\n{hashed}"
        key = f"AWS4{self.credentials.secret_key}".encode()
        for part in (*self._scope(moment).split("/"), to_sign):
            key = hmac.digest(key, part.encode(), "sha256")
        return key.hex()


def _canonical(method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], sha256: str) -> str:
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    return f"{method}\n{path}\n{_encoded(query)}\n{lines}\n{';'.join(sorted(headers))}\n{sha256}"


def _encoded(query: Mapping[str, str]) -> str:
    return "&".join(f"{_quoted(name)}={_quoted(query[name])}" for name in sorted(query, key=_quoted))


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")


def _written(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"
