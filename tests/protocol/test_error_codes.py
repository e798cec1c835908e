"""docs/errors.md lists exactly the error codes that the code raises, with their params."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from footnote.models import errors as model_errors
from footnote.models.base import Endpoint
from footnote.protocol.errors import LimitReached, UpstreamError, UsageError
from footnote.protocol.events import ErrorBody
from footnote.protocol.messages import Failure

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(\w+)` \|([^|]*)\|", re.MULTILINE)
NOT_PARAMS = {"code", "params", "status", "retry_after", "retryable", "is_hostile", "is_wrong_kind", "is_unsent"}
"""Arguments of errors that are not params of the message."""
OTHER_CODES = {"Outcome", "ProviderTry"}
"""Outcomes of search providers have codes of their own, which are not errors."""
SET_ELSEWHERE = {"files_refused", "too_many_logins_from_address", "too_many_logins_with_name", "too_many_requests"}
"""Their params are not passed in the call that names the code."""


def documented() -> dict[str, tuple[set[str], set[str]]]:
    """For each code of the tables: the params that are always present, and all of them."""
    tables: dict[str, tuple[set[str], set[str]]] = {}
    for code, cell in ROW.findall((ROOT / "docs/errors.md").read_text("utf-8")):
        params = re.findall(r"`(\w+)`(\??)", cell)
        assert code not in tables, code
        tables[code] = {name for name, optional in params if not optional}, {name for name, _ in params}
    return tables


def raised() -> dict[str, list[set[str]]]:
    """For each code of the source: the params of each place that raises it."""
    found: dict[str, list[set[str]]] = defaultdict(list)
    for path in (ROOT / "src/footnote").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) not in OTHER_CODES:
                arguments = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
                code, params = arguments.get("code"), arguments.get("params")
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    names = set(arguments) - NOT_PARAMS
                    if isinstance(params, ast.Dict):
                        names |= {str(key.value) for key in params.keys if isinstance(key, ast.Constant)}
                    found[code.value].append(names)
    return found


def endpoint() -> Endpoint:
    return Endpoint("acme", "https://acme.test", api_key="sk-secret-value", key_name="ACME_API_KEY")


def failures_by_status() -> list[Failure]:
    body = b'{"error": {"type": "", "message": "no sk-secret-value"}}'
    return [
        *(
            model_errors.from_status(endpoint(), status, body)
            for status in (302, 400, 401, 402, 403, 404, 413, 429, 500)
        ),
        model_errors.from_status(endpoint(), 400, b'{"error": {"message": "This model does not support tools"}}'),
        model_errors.from_status(
            Endpoint("ollama", "http://127.0.0.1:11434/v1", is_self_hosted=True),
            404,
            b'{"error": {"message": "model \'m\' not found"}}',
            "m",
        ),
        model_errors.from_event(endpoint(), {"type": "overloaded_error", "message": "sk-secret-value"}),
    ]


def test_every_code_is_documented_and_no_other() -> None:
    by_status = {failure.code for failure in failures_by_status()}

    assert set(documented()) == {*raised(), *by_status, "files_refused"}


def test_the_params_are_the_documented_ones() -> None:
    tables = documented()
    for code, places in raised().items():
        if code not in SET_ELSEWHERE:
            always, possible = set[str].intersection(*places), set[str].union(*places)
            assert (code, tables[code]) == (code, (always, possible))
    for failure in failures_by_status():
        always, possible = tables[failure.code]
        assert always <= set(failure.params) <= possible


def test_the_params_of_a_failed_model_have_no_key() -> None:
    assert "sk-secret" not in repr([failure.params for failure in failures_by_status()])


@pytest.mark.parametrize("kind", [UsageError, UpstreamError, LimitReached])
def test_an_error_carries_its_facts(kind: type[UsageError | UpstreamError | LimitReached]) -> None:
    error = kind("It has 3 parts.", code="too_many_parts", max=3)
    body = ErrorBody.from_error(error, "Too many.")

    assert (error.code, error.params) == ("too_many_parts", {"max": 3})
    assert body == ErrorBody(kind.type, "Too many.", error.retryable, "too_many_parts", {"max": 3})


def test_the_code_of_an_error_without_one_is_its_type() -> None:
    assert ErrorBody.from_error(UsageError("No.")) == ErrorBody(
        "invalid_request", "No.", retryable=False, code="invalid_request"
    )
