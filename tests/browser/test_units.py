"""The unit tests of the page, which need no browser: vitest runs them in web/."""

import node
import pytest


def test_the_parts_of_the_page_hold_by_themselves() -> None:
    if not node.PROGRAMS.exists():
        pytest.skip("web/node_modules is not installed; `make test` does that")
    # A test that hangs is killed; the limit is generous, because the machine may be busy.
    patience = ("--testTimeout=120000", "--hookTimeout=120000", "--teardownTimeout=120000")
    done = node.run("vitest", "run", "--reporter=default", *patience, capture_output=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
