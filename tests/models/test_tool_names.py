import pytest

from footnote.models.tool_names import ToolNames

NAMES = ToolNames(("web_search", "write_file", "mcp__books__find", "mcp__books__Find"))


@pytest.mark.parametrize(
    "written",
    [
        *("web_search", "Web_Search", "web-search", "web search", "WebSearch", "functions.web_search"),
        *("default_api.web_search", "tools/web_search", "functions.web_search:0", "web_search()", "web_search:12"),
        *("web_search<|channel|>commentary", "functions.Web-Search"),
    ],
)
def test_a_name_is_known_in_the_spellings_of_models(written: str) -> None:
    assert NAMES.find(written) == NAMES.resolve(written) == "web_search"


@pytest.mark.parametrize("written", ["", "search", "web_searches", "web", "functions.", "🙂", "x" * 10_000])
def test_another_name_is_that_of_no_tool(written: str) -> None:
    assert NAMES.find(written) is None
    assert NAMES.resolve(written) == written


def test_names_that_differ_only_in_their_spelling_are_told_apart_by_it() -> None:
    assert NAMES.find("mcp__books__Find") == "mcp__books__Find"
    assert NAMES.find("mcp__books__FIND") is None
