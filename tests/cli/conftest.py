from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cli.small_web import small_web
from web import Web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with small_web() as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of commands that are called in this process."""
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path))
    return tmp_path
