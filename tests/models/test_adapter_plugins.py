"""Model adapters of plugins: one entry point, whose name is a `type` in the settings."""

import logging
from pathlib import Path

import pytest

from config.conftest import LoadConfig, home, load_config
from footnote.cancel import CancelScope
from footnote.config.resolve import resolve_model
from footnote.config.validation import InvalidConfiguration
from footnote.models.adapters import model_apis
from footnote.models.base import Context, Options
from footnote.protocol.messages import Text
from footnote.protocol.stream import Done
from matrix.recorded_response import model_with_response
from plugin_packages import install, site

__all__ = ["home", "load_config", "site"]

GROUP = "footnote.models"
ECHO = """
    PATH = "/echo"
    MODELS_PATH = "/models"

    def request_headers(endpoint):
        return {}

    def request_body(model_id, context, options, profile):
        return {"model": model_id}

    class Parser:
        is_complete = False

        def __init__(self, accumulator):
            self.accumulator = accumulator

        def parse(self, payload):
            start = self.accumulator.open_text()
            yield start
            yield self.accumulator.append(start.index, payload.decode())

        def finish(self):
            return self.accumulator.finish("stop", None)

        def flush(self):
            return ()

    def response_parser(accumulator, endpoint, tools):
        return Parser(accumulator)
"""


@pytest.fixture
def echo(site: Path) -> None:
    install(site, "echo_models", ECHO, "echo = echo_models\n", group=GROUP)


@pytest.mark.usefixtures("echo")
def test_its_name_is_a_type_in_the_settings(load_config: LoadConfig) -> None:
    own = {"type": "echo", "baseUrl": "http://127.0.0.1:1"}
    settings = load_config({"models": {"default": "own/a", "providers": {"own": own}}}).settings
    assert resolve_model(settings).type == "echo"


@pytest.mark.usefixtures("echo")
def test_the_sentence_about_a_missing_type_names_it(load_config: LoadConfig) -> None:
    with pytest.raises(InvalidConfiguration, match='"anthropic" or "openai" or "echo"'):
        load_config({"models": {"providers": {"own": {"baseUrl": "http://127.0.0.1:1"}}}})


@pytest.mark.usefixtures("echo")
async def test_a_model_is_asked_through_it() -> None:
    model = model_with_response("echo", b"data: hello\n\n")
    events = [event async for event in model.stream(Context("", ()), Options(), CancelScope())]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.message.content == (Text("hello"),)


@pytest.mark.usefixtures("site")
def test_without_the_package_its_type_is_wrong(load_config: LoadConfig) -> None:
    with pytest.raises(InvalidConfiguration, match='expected one of "anthropic", "openai", found "echo"'):
        load_config({"models": {"providers": {"own": {"type": "echo"}}}})


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("echo", "raise RuntimeError('no luck')", "RuntimeError: no luck"),
        ("reader", ECHO, "TypeError: 'reader' cannot be the type of a model provider: 1 to 32 of a-z, 0-9 and -."),
        ("echo", "PATH = '/'", "is not a model adapter; it has no MODELS_PATH, request_headers, request_body"),
    ],
)
def test_a_broken_plugin_is_left_out_and_its_package_is_named(
    site: Path, caplog: pytest.LogCaptureFixture, name: str, code: str, reason: str
) -> None:
    install(site, "bad", code, f"{name} = bad\n", group=GROUP)
    with caplog.at_level(logging.WARNING):
        assert list(model_apis()) == ["anthropic", "openai"]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"The plugin {name} of the package bad could not be loaded and is left out:")
    assert reason in record.getMessage()


def test_a_plugin_cannot_take_the_name_of_an_adapter_that_ships(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, "thief", ECHO, "openai = thief\n", group=GROUP)
    assert model_apis()["openai"].PATH == "/chat/completions"
    assert "A second model adapter is called openai; it is left out." in caplog.text
