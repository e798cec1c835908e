"""The table: every route of the server."""

from footnote.server import doors
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
from footnote.server.table import Route

TABLE: tuple[Route, ...] = (
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
    *doors.ROUTES,
    *about.ROUTES,
    *page.ROUTES,
)
