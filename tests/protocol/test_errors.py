"""The tree of errors in a docstring matches the code."""

import importlib
import inspect
import pkgutil
import re

import pytest

import footnote
from footnote.protocol import errors
from footnote.protocol.errors import FootnoteError

DRAWING = (errors.__doc__ or "").split("\n\n")[1]
TREE = re.findall(r"^([│├└─ ]*)([A-Z]\w+)", DRAWING, re.MULTILINE)


def all_errors() -> list[type[FootnoteError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, FootnoteError)]


def test_every_error_derives_from_the_one_at_the_root():
    raised = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BaseException)]

    assert raised == all_errors()


def test_the_drawn_tree_names_every_error_under_its_parent():
    drawn: dict[str, str] = {}
    path: list[str] = []
    for indent, name in TREE:
        depth = len(indent) // 3
        path = [*path[:depth], name]
        drawn[name] = path[-2] if depth else "Exception"

    assert drawn == {kind.__name__: kind.__bases__[0].__name__ for kind in all_errors()}


@pytest.mark.parametrize("kind", all_errors())
def test_an_error_carries_its_sentence_and_a_name_for_clients(kind: type[FootnoteError]):
    error = kind("Do this.")

    assert (error.message, str(error)) == ("Do this.", "Do this.")
    assert re.fullmatch(r"[a-z_]+", error.type)
    assert isinstance(error.retryable, bool)


def test_names_for_clients_are_distinct_along_the_tree():
    names = [kind.__dict__["type"] for kind in all_errors() if "type" in kind.__dict__]

    assert len(names) == len(set(names))


SIGNALS = {
    *(
        "Cancelled",
        "NotAdded",
        "NotPublic",
        "IllegalMove",
        "PageFailed",
        "UnreadableDocument",
        "UnreadableResponse",
        "MalformedJson",
        "MalformedTemplate",
        "UnsupportedTool",
        "IllegalMove",
    ),
    *(
        "BlobGone",
        "StaleVersion",
        "OutdatedVersion",
        "NotReadable",
        "NotStarted",
        "BrokenAnswer",
        "_Gone",
        "_UnsupportedFormula",
    ),
    *("NeedsTransaction", "_CommitUncertain"),
}
"""Internal exceptions, which the layer that raises them also catches."""


def test_every_exception_of_the_package_belongs_to_the_tree():
    for module in pkgutil.walk_packages(footnote.__path__, "footnote."):
        if module.name.endswith("__main__"):
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Exception) and kind.__module__ == module.name and name not in SIGNALS:
                assert issubclass(kind, FootnoteError), f"{module.name}.{name}"
