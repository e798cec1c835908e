import pytest

from footnote.net.client import Net
from matrix.adapters import Adapter, HttpAdapter, ScriptedAdapter
from upstream import Upstream


@pytest.fixture(params=["anthropic", "openai"])
def http(request: pytest.FixtureRequest, upstream: Upstream, net: Net) -> HttpAdapter:
    """Each of the two APIs."""
    return HttpAdapter(request.param, upstream, net)


@pytest.fixture
def anthropic(upstream: Upstream, net: Net) -> HttpAdapter:
    return HttpAdapter("anthropic", upstream, net)


@pytest.fixture
def openai(upstream: Upstream, net: Net) -> HttpAdapter:
    return HttpAdapter("openai", upstream, net)


@pytest.fixture(params=["anthropic", "openai", "scripted"])
def adapter(request: pytest.FixtureRequest, upstream: Upstream, net: Net) -> Adapter:
    """Each of the two APIs, and the scripted model."""
    return ScriptedAdapter() if request.param == "scripted" else HttpAdapter(request.param, upstream, net)
