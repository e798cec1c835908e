"""What may be shown of a value."""

import pytest

from footnote.config.masking import masked_address, masked_arguments, masked_reference, names_a_secret


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.org/v1", "https://api.example.org/v1"),
        ("sqlite:footnote.db", "sqlite:footnote.db"),
        ("local:", "local:"),
        ("postgresql://user:secret@host:5432/name", "postgresql://user:***@host:5432/name"),
        ("postgresql://user:se/cr?e@t#@host/name", "postgresql://user:***@host/name"),
        ("redis://:secret@host", "redis://:***@host"),
        ("https://secret@host/x", "https://***@host/x"),
        ("https://host/mcp?apiKey=secret&region=eu", "https://host/mcp?apiKey=***&region=eu"),
        ("https://host/mcp?secret", "https://host/mcp?***"),
        ("s3://bucket?endpoint=http://minio:9000&region=eu", "s3://bucket?endpoint=http://minio:9000&region=eu"),
    ],
)
def test_an_address_is_shown_without_its_password_and_the_values_of_its_query(address: str, shown: str) -> None:
    assert masked_address(address) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${TOKEN}", "${TOKEN}"),
        ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
        ("${USER}${TOKEN}", "${USER}${TOKEN}"),
        ("secret", "***"),
        ("secret ${TOKEN}", "***"),
        ("", "***"),
        ("${not a name}", "***"),
    ],
)
def test_only_references_are_shown(text: str, shown: str) -> None:
    assert masked_reference(text) == shown


def test_arguments_are_shown_without_what_an_option_announces_as_a_secret() -> None:
    arguments = ("--root", ".", "--api-key", "secret", "--token=secret", "-v", "--password", "--force", "http://u:p@h")
    shown = ("--root", ".", "--api-key", "***", "--token=***", "-v", "--password", "--force", "http://u:***@h")
    assert masked_arguments(arguments) == shown


@pytest.mark.parametrize("name", ["apiKey", "API_KEY", "X-API-Key", "Authorization", "--token", "dbPassword", "cookie"])
def test_a_name_can_announce_a_secret(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["", "MAX_TOKENS", "keyboard", "name", "TOKENIZERS_PARALLELISM", "author"])
def test_a_name_that_only_looks_like_one_announces_nothing(name: str) -> None:
    assert not names_a_secret(name)
