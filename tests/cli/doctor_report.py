"""Runs `footnote doctor` and groups its findings by check."""

import json
import re
from pathlib import Path
from typing import Any

from cli.process import environment, run_footnote
from web.providers import KEY as SEARCH_KEY
from web.providers import WITH_KEY, SearchServer

KEY = "sk-planted-0123456789"


async def doctor(home: Path, **variables: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and the findings by their check."""
    env = environment(home, FOOTNOTE_HOME=str(home), **variables)
    code, out, err = await run_footnote("doctor", "--json", env=env)
    assert err == ""
    assert KEY not in out
    assert SEARCH_KEY not in out
    report = json.loads(out)
    assert report["ok"] is (code == 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in report["findings"]:
        assert finding["status"] == "OK" or finding["remedy"]
        found.setdefault(finding.pop("check"), []).append(finding)
    return code, found


def ok(message: str) -> list[dict[str, Any]]:
    return [{"status": "OK", "message": message}]


def search_variables(*servers: SearchServer) -> dict[str, str]:
    """Settings that point to these search providers, with keys for those that need one."""
    places = {f"FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_{one.provider.upper()}_BASE_URL": one.url for one in servers}
    return places | {f"{one.provider.upper()}_API_KEY": SEARCH_KEY for one in servers if one.provider in WITH_KEY}


def without_times(finding: dict[str, Any]) -> dict[str, Any]:
    return finding | {"message": re.sub(r"\d+ ms", "… ms", finding["message"])}
