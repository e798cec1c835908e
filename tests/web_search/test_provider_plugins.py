"""Search providers of plugins: one entry point is enough for the settings, the search and `doctor`."""

import logging
from pathlib import Path

import pytest

from config.conftest import LoadConfig, home, load_config
from footnote.config.load import entries
from footnote.config.resolve import resolve_search
from footnote.config.validation import InvalidConfiguration
from footnote.net.client import Net
from footnote.protocol.errors import ConfigError
from footnote.web_search.providers import builtin_providers, search_providers
from footnote.web_search.search import ProviderSearch
from plugin_packages import install, site
from web_search.fakes import make_request

__all__ = ["home", "load_config", "site"]

GROUP = "footnote.providers"
MOJEEK = """
    from footnote.protocol.sources import SearchHit
    from footnote.web_search.providers.base import Provider, RequestPlan
    from footnote.web_search.providers.outcomes import Outcome

    class Mojeek(Provider, frozen=True, kw_only=True):
        def plan(self, request, access):
            return RequestPlan(None, ())

        async def search(self, request, access, context):
            hit = SearchHit(title=access.api_key, url="https://mojeek.example/", description=request.query)
            return Outcome(kind="results", hits=(hit,))

    provider = Mojeek(id="mojeek", order=25, aliases=("moj",), key_name="MOJEEK_API_KEY")
    several = [provider]
    stolen = Mojeek(id="mine", order=1, aliases=("brave",))
    nameless = Mojeek(id="Not A Name", order=1)
    keyless = Mojeek(id="mojeek", order=1, key_name="no variable")
"""


@pytest.fixture
def mojeek(site: Path) -> None:
    install(site, "mojeek_package", MOJEEK, "mojeek = mojeek_package:provider\n", group=GROUP)


@pytest.mark.usefixtures("mojeek")
def test_it_stands_in_its_place_in_the_order() -> None:
    assert [provider.id for provider in search_providers()] == [
        *("brave", "serper", "mojeek", "tavily", "searxng", "duckduckgo", "library"),
    ]


@pytest.mark.usefixtures("mojeek")
async def test_a_search_with_it_takes_its_key_from_its_variable(load_config: LoadConfig) -> None:
    settings = load_config(environ={"MOJEEK_API_KEY": "from-the-environment"}).settings
    async with Net() as net:
        found = await ProviderSearch(net).search(make_request(), resolve_search(settings, "mojeek"))
    assert [(hit.title, hit.description) for hit in found.results.results] == [("from-the-environment", "oxygen")]


@pytest.mark.usefixtures("mojeek")
def test_it_has_a_section_variables_and_an_alias_in_the_settings(load_config: LoadConfig) -> None:
    named = {"tools": {"webSearch": {"defaultProvider": "moj", "providers": {"moj": {"apiKey": "k"}}}}}
    configuration = load_config(named, environ={"FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_MOJEEK_BASE_URL": "http://m"})
    shown = {entry.key: str(entry.value) for entry in entries(configuration) if "mojeek" in entry.key}
    assert shown == {
        "tools.webSearch.providers.mojeek.apiKey": "***",
        "tools.webSearch.providers.mojeek.baseUrl": "http://m",
    }
    assert resolve_search(configuration.settings).provider == "mojeek"


@pytest.mark.usefixtures("mojeek")
def test_what_it_needs_is_told(load_config: LoadConfig) -> None:
    with pytest.raises(ConfigError, match="The search provider mojeek needs a key: set MOJEEK_API_KEY"):
        resolve_search(load_config().settings, "mojeek")


@pytest.mark.usefixtures("site")
def test_without_the_package_its_name_is_wrong(load_config: LoadConfig) -> None:
    with pytest.raises(InvalidConfiguration, match='unknown key "mojeek"; the nearest valid key is'):
        load_config({"tools": {"webSearch": {"providers": {"mojeek": {}}}}})


def test_one_entry_point_may_bring_several(site: Path) -> None:
    install(site, "mojeek_package", MOJEEK, "all = mojeek_package:several\n", group=GROUP)
    assert "mojeek" in [provider.id for provider in search_providers()]


@pytest.mark.parametrize(
    ("code", "name", "reason"),
    [
        ("raise RuntimeError('no luck')", "provider", "RuntimeError: no luck"),
        (
            "provider = [5]",
            "provider",
            "TypeError: 5 is not a search provider; make a WebProvider or a subclass of Provider.",
        ),
        (
            MOJEEK,
            "nameless",
            "TypeError: 'Not A Name' cannot be the name of a search provider: 1 to 32 of a-z, 0-9 and -.",
        ),
        (MOJEEK, "keyless", "TypeError: 'no variable' cannot be the name of an environment variable for a key."),
    ],
)
def test_a_broken_plugin_is_left_out_and_its_package_is_named(
    site: Path, caplog: pytest.LogCaptureFixture, code: str, name: str, reason: str
) -> None:
    install(site, "bad", code, f"broken = bad:{name}\n", group=GROUP)
    with caplog.at_level(logging.WARNING):
        assert search_providers() == builtin_providers()
    assert [record.getMessage() for record in caplog.records] == [
        f"The plugin broken of the package bad could not be loaded and is left out: {reason}"
    ]


def test_a_plugin_cannot_take_the_name_of_a_provider_that_ships(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, "thief", MOJEEK, "stolen = thief:stolen\n", group=GROUP)
    assert search_providers() == builtin_providers()
    assert "A second search provider is called brave; it is left out." in caplog.text
