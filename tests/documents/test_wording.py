"""The words that converters add to documents."""

import pytest

from footnote.documents.languages import callout_title, contents_title, omitted_rows_note


@pytest.mark.parametrize(
    ("language", "title", "rows"),
    [
        ("en", "Contents", "1,234 more rows are not shown."),
        ("en-GB", "Contents", "1,234 more rows are not shown."),
        ("vi", "Mục lục", "Còn 1,234 hàng không được in ở đây."),
        ("zh-Hans", "目录", "另有 1,234 行未显示。"),
        ("zh-Hant", "目錄", "另有 1,234 列未顯示。"),
        ("ar", "المحتويات", "1,234 more rows are not shown."),
        ("tlh", "Contents", "1,234 more rows are not shown."),
    ],
)
def test_they_are_in_the_language_of_the_document_or_in_english(language: str, title: str, rows: str) -> None:
    assert (contents_title(language), omitted_rows_note(language, 1234)) == (title, rows)


def test_notes_and_warnings_are_called_so_in_the_language_of_the_document() -> None:
    labels = (("en", "note"), ("vi", "warning"), ("zh-Hans", "tip"), ("zh-Hant", "note"), ("tlh", "caution"))
    assert [callout_title(*what) for what in labels] == ["Note", "Cảnh báo", "提示", "註", "Caution"]
