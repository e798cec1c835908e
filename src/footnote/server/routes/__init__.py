"""The table: every route of the server."""

from footnote.server import compat
from footnote.server.route import Route
from footnote.server.routes import (
    about,
    accounts,
    catalog,
    checks,
    downloads,
    files,
    page,
    research,
    runs,
    sessions,
    views,
)

ALL_ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *runs.ROUTES,
    *checks.ROUTES,
    *research.ROUTES,
    *files.ROUTES,
    *views.ROUTES,
    *downloads.ROUTES,
    *page.IMAGE_ROUTES,
    *catalog.ROUTES,
    *accounts.ROUTES,
    *compat.ROUTES,
    *about.ROUTES,
    *page.ROUTES,
)
