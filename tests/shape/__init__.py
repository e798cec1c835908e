"""The form of the repository itself: sizes, names, places, lock files, pages."""
