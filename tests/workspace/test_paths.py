import itertools
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footnote.protocol.errors import UsageError
from footnote.workspace.paths import PathRefused, filename_of, key_of, writable_key_of
from workspace.hostile import HOSTILE_NAMES


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("report.md", "/report.md"),
        ("/report.md", "/report.md"),
        ("./report.md", "/report.md"),
        ("//a///b.md", "/a/b.md"),
        ("/a/./b.md", "/a/b.md"),
        ("/a b.md", "/a b.md"),
        ("ba\u0301o ca\u0301o.md", "/b\u00e1o c\u00e1o.md"),
        ("/报告/一.md", "/报告/一.md"),
        ("/👩‍💻.md", "/👩‍💻.md"),
        ("/👩🏽\u200d🚀 ❤\ufe0f\u200d🔥.md", "/👩🏽\u200d🚀 ❤\ufe0f\u200d🔥.md"),
        ("/می\u200cخواهم.md", "/می\u200cخواهم.md"),
        ("/ක්\u200dරම.md", "/ක්\u200dරම.md"),
        ("/അവന്\u200d", "/അവന്\u200d"),
        ("/র\u200d্যাব.md", "/র\u200d্যাব.md"),
        ("/.env", "/.env"),
        ("%2e%2e/x", "/%2e%2e/x"),
        ("notes: one.md", "/notes: one.md"),
    ],
)
def test_a_path_becomes_its_key(path: str, key: str) -> None:
    assert key_of(path) == key


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "'' names no file. Write a path such as /report.md."),
        ("/notes/", "'/notes/' names no file. Write a path such as /report.md."),
        ("/a/../b", "'/a/../b' has the part '..'. Write the whole path from the root: /folder/name.md."),
        ("~/b", "'~/b' starts with ~, but a workspace has no home folder. Write /report.md."),
        ("C:/b", "'C:/b' has a drive letter. Workspace paths start with a slash: /report.md."),
        ("a\\b", "'a\\\\b' has a backslash. Separate folders with a forward slash."),
        ("file:///b", "'file:///b' is an address, not a workspace path. Write a path such as /report.md."),
        ("a\0b", "'a\\x00b' has the invisible character U+0000. Leave it out."),
        ("a\u202eb", "'a\\u202eb' has the invisible character U+202E. Leave it out."),
        ("a /b", "'a /b' has a name that starts or ends with a space. Leave the space out."),
        ("é" * 128, "A name of 256 bytes is too long; at most 255. Choose a shorter one."),
        ("a/" * 33 + "b", "The path has 34 parts; at most 32 are allowed. Use fewer folders."),
        ("/".join(["a" * 250] * 5), "The path has 1255 bytes; at most 1024 are allowed. Choose a shorter one."),
    ],
)
def test_a_path_that_cannot_be_kept_is_refused_with_a_remedy(path: str, message: str) -> None:
    with pytest.raises(PathRefused) as refused:
        key_of(path)
    assert refused.value.message == message


def test_what_cannot_be_seen_is_refused(subtests: pytest.Subtests) -> None:
    unseen = "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u2060\u2064\u206a\u3164\ufeff\ufff9\U000e0041\U000e007f"
    paths = ("/re{}port.md", "/{}a", "/a{}", "/{}", "/报{}告", "/a{}☃", "/☃{}.md", "/é{}\u0301")
    for character, path in itertools.product(unseen, paths):
        with (
            subtests.test(character=ascii(character), path=path),
            pytest.raises(PathRefused, match=f"has the invisible character U\\+{ord(character):04X}"),
        ):
            key_of(path.format(character))


def test_the_folder_of_large_results_can_be_read_but_not_written() -> None:
    assert key_of("/large_tool_results/a.txt") == "/large_tool_results/a.txt"
    with pytest.raises(PathRefused, match="kept for tool results"):
        writable_key_of("large_tool_results/a.txt")


def test_the_filename_is_the_last_part() -> None:
    assert filename_of("/a/b.tar.gz") == "b.tar.gz"


def test_there_are_more_than_500_hostile_names() -> None:
    assert len(set(HOSTILE_NAMES)) > 500


def test_a_hostile_name_is_refused_or_becomes_a_harmless_key() -> None:
    for name in HOSTILE_NAMES:
        assert_harmless_or_refused(name)


@given(st.text(st.characters(codec=None)) | st.text("./\\~ :%a\0\u202e\u0301", max_size=30))
@example("a\ud800")
def test_any_text_is_refused_or_becomes_a_harmless_key(name: str) -> None:
    assert_harmless_or_refused(name)


def assert_harmless_or_refused(name: str) -> None:
    try:
        key = key_of(name)
    except UsageError as error:
        refused = error.message
    else:
        refused = ""
        assert_harmless(key)
    assert refused.isprintable()


def assert_harmless(key: str) -> None:
    parts = key.split("/")
    assert parts[0] == ""
    assert all(part.strip(". ") for part in parts[1:])
    assert "\\" not in key
    assert unicodedata.is_normalized("NFC", key)
    unseen = {character for character in key if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert unseen <= {"\u200c", "\u200d"}
    assert len(key.encode()) <= 1024
    assert key_of(key) == key
