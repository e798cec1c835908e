"""`footnote users`: the accounts of a shared server. Works on the database itself, whether a server runs or not."""

import argparse
import asyncio
import getpass
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from footnote.accounts.accounts import Accounts, normalize_name
from footnote.accounts.credentials import check_password
from footnote.cli import Exit
from footnote.cli.output import format_json, print_note
from footnote.cli.terminal.lines import format_table, one_line
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.db.engine import Database
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER, NewUser, User, UserChanges
from footnote.protocol.errors import ConfigError, UsageError
from footnote.storage import open_storage
from footnote.workspace.blobs import Blobs

MAX_LINE_BYTES = 64 * 1024
T = TypeVar("T")


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("users", help="accounts of a shared server: add, list, disable, remove")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    add = actions.add_parser(
        "add",
        help="add a user",
        description="Asks for the password twice; where stdin is not a terminal, its first line is the password.",
    )
    add.add_argument("name", metavar="NAME", help="the name to log in with; not case-sensitive")
    add.add_argument("--admin", action="store_true", help="may also add and remove users")
    add.set_defaults(run=_add)

    listing = actions.add_parser("list", help="all users, the oldest first")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    listing.set_defaults(run=_list)

    password = actions.add_parser(
        "password",
        help="give a user a new password",
        description="Asks for the password as `users add` does. The user must log in again; tokens stay valid.",
    )
    password.set_defaults(run=_password)
    disable = actions.add_parser(
        "disable", help="refuse a user, and keep their data; their tokens stop working at once"
    )
    disable.set_defaults(run=_disable)
    enable = actions.add_parser("enable", help="admit a disabled user again; their tokens work again")
    enable.set_defaults(run=_enable)
    remove = actions.add_parser(
        "remove",
        help="remove a user with all their data",
        description="Removes a user with their sessions, files and tokens. This cannot be undone.",
    )
    remove.add_argument("--yes", action="store_true", help="do not ask; needed where stdin is not a terminal")
    remove.set_defaults(run=_remove)
    for action in (password, disable, enable, remove):
        action.add_argument("name", metavar="NAME", help="the user")


def with_accounts(arguments: argparse.Namespace, work: Callable[[Accounts], Awaitable[T]]) -> T:
    """Prompts must come before: inside the event loop, Ctrl-C would wait for their answer."""
    return asyncio.run(_with_accounts(arguments, work))


async def _with_accounts(arguments: argparse.Namespace, work: Callable[[Accounts], Awaitable[T]]) -> T:
    configuration = load(arguments.home, arguments.config_file)
    async with Database.open(configuration.settings.database.url, configuration.home) as database:
        accounts = Accounts(database)
        try:
            return await work(accounts)
        finally:
            await accounts.close()


def _add(arguments: argparse.Namespace) -> int:
    name = normalize_name(arguments.name)
    password = _read_new_password()
    role = "admin" if arguments.admin else "user"
    user = with_accounts(arguments, lambda accounts: accounts.add(NewUser(name, password, role)))
    return _done(f"Added the {role} {user.name}.")


def _list(arguments: argparse.Namespace) -> int:
    users = with_accounts(arguments, lambda accounts: accounts.users())
    if arguments.json:
        print(format_json(users))
        return Exit.OK
    rows = [
        (one_line(user.name), user.role, "disabled" if user.disabled else "enabled", _day(user), user.id)
        for user in users
    ]
    print("\n".join(format_table(("NAME", "ROLE", "STATE", "ADDED", "ID"), rows)))
    return Exit.OK


def _day(user: User) -> str:
    """The day on which the account was added; the local user was not added."""
    return "-" if user.id == LOCAL_USER else user.created_at[:10]


def _password(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    password = _read_new_password()
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(password=password)))
    return _done(f"{user.name} has a new password, and must log in again.")


def _disable(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(disabled=True)))
    return _done(f"{user.name} is disabled. Their sessions, files and tokens are kept.")


def _enable(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(disabled=False)))
    return _done(f"{user.name} is enabled.")


def _remove(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    if not arguments.yes and not _confirm_removal(user):
        return _done("Nothing was removed.")
    with_accounts(arguments, lambda accounts: accounts.remove(user.id))
    with suppress(ConfigError):  # the storage cannot be reached from here; the server removes the contents later
        asyncio.run(_sweep(arguments))
    return _done(f"Removed {user.name} with all sessions, files and tokens.")


async def _sweep(arguments: argparse.Namespace) -> None:
    """Removes the contents of their files from the storage."""
    configuration = load(arguments.home, arguments.config_file)
    settings, home = configuration.settings, configuration.home
    async with Net() as net, Database.open(settings.database.url, home) as database:
        storage = open_storage(settings.storage.url, home, process_environment(), net)
        try:
            await Blobs(database, storage).sweep()
        finally:
            await storage.close()


def _find_user(arguments: argparse.Namespace) -> User:
    return with_accounts(arguments, lambda accounts: accounts.user_by_name(arguments.name))


def _read_new_password() -> str:
    """From a terminal typed twice and not shown; otherwise the first line of stdin."""
    if not sys.stdin.isatty():
        return check_password(_read_first_line())
    password = check_password(getpass.getpass("New password: "))
    if getpass.getpass("Repeat it: ") != password:
        raise UsageError("The passwords differ. Nothing was changed; try again.")
    return password


def _read_first_line() -> str:
    line = sys.stdin.buffer.readline(MAX_LINE_BYTES)
    try:
        return line.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise UsageError("The password on stdin is not UTF-8 text.") from None


def _confirm_removal(user: User) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("This cannot be undone. Without a terminal to ask on, give --yes.")
    question = f"Remove {one_line(user.name)} with all sessions, files and tokens? This cannot be undone. [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _done(text: str) -> int:
    print_note(text)
    return Exit.OK
