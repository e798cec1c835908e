"""The work where none of the optional packages is installed."""

import sys

from footnote.documents.workshop.forge import worked

__all__ = ["worked"]

sys.modules.update(dict.fromkeys(("typst", "python_calamine", "pypdfium2")))
