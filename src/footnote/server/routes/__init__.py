"""The table: every route of the server."""

from footnote.server import compat
from footnote.server.route import Route
from footnote.server.routes import (
    about,
    addresses,
    auth,
    catalog,
    downloads,
    files,
    page,
    pictures,
    runs,
    sessions,
    users,
    views,
)

ALL_ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *runs.ROUTES,
    *files.ROUTES,
    *views.ROUTES,
    *downloads.ROUTES,
    *addresses.ROUTES,
    *pictures.ROUTES,
    *catalog.ROUTES,
    *auth.ROUTES,
    *users.ROUTES,
    *compat.ROUTES,
    *about.ROUTES,
    *page.ROUTES,
)
