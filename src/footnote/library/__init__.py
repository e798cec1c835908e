"""What was read, what a person put in, and Footnote's own documentation: kept, opened, and searched offline."""

from footnote.db.library import Kind, LibraryPage
from footnote.library.library import Library, file_url

__all__ = ["Kind", "Library", "LibraryPage", "file_url"]
