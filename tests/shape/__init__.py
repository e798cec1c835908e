"""The form of the repository itself: sizes, names, folders, lock files, pages."""
