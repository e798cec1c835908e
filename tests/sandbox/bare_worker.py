"""The worker where none of the optional packages is installed."""

import sys

from footnote.documents.worker import run

__all__ = ["run"]

sys.modules.update(dict.fromkeys(("typst", "python_calamine", "pypdfium2")))
