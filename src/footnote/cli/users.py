"""`footnote users`: who may use a shared Footnote. Works on the database itself, whether a server runs or not."""

import argparse
import asyncio
import getpass
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from footnote.accounts.accounts import Accounts
from footnote.accounts.names import normalize_name
from footnote.accounts.passwords import check_password
from footnote.cli import Exit
from footnote.cli.terminal.cells import one_line, pad, width
from footnote.cli.terminal.clean import clean_line, escape_json
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.db.engine import Database
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER, NewUser, User, UserChanges
from footnote.protocol.errors import ConfigError, UsageError
from footnote.storage.factory import open_storage
from footnote.workspace.blobs import Blobs

MAX_LINE_BYTES = 64 * 1024
T = TypeVar("T")


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("users", help="who may use a shared Footnote: add, list, disable, remove")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    add = actions.add_parser(
        "add",
        help="add a user",
        description="Asks for the password twice; where stdin is not a terminal, its first line is the password.",
    )
    add.add_argument("name", metavar="NAME", help="how they log in; capitals make no difference")
    add.add_argument("--admin", action="store_true", help="they may add and remove users too")
    add.set_defaults(run=_add)

    listing = actions.add_parser("list", help="all users, the oldest first")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    listing.set_defaults(run=_list)

    password = actions.add_parser(
        "password",
        help="give a user a new password",
        description="Asks for the password as `users add` does. Who is logged in as this user must log in again; "
        "tokens stay.",
    )
    password.set_defaults(run=_password)
    disable = actions.add_parser(
        "disable", help="let a user in no longer, and keep all that is theirs; their tokens stop working at once"
    )
    disable.set_defaults(run=_disable)
    enable = actions.add_parser("enable", help="let a disabled user in again; their tokens work again")
    enable.set_defaults(run=_enable)
    remove = actions.add_parser(
        "remove",
        help="remove a user with all that is theirs",
        description="Removes a user with their sessions, files and tokens. This cannot be undone.",
    )
    remove.add_argument("--yes", action="store_true", help="do not ask; needed where stdin is not a terminal")
    remove.set_defaults(run=_remove)
    for action in (password, disable, enable, remove):
        action.add_argument("name", metavar="NAME", help="the user")


def with_accounts(arguments: argparse.Namespace, work: Callable[[Accounts], Awaitable[T]]) -> T:
    """Nothing is asked for inside: Ctrl-C would wait until it is answered."""
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
    return note(f"Added the {role} {user.name}.")


def _list(arguments: argparse.Namespace) -> int:
    users = with_accounts(arguments, lambda accounts: accounts.users())
    if arguments.json:
        print(format_json(users))
        return Exit.OK
    rows = [(user.name, user.role, "disabled" if user.disabled else "enabled", _day(user), user.id) for user in users]
    print("\n".join(format_table(("NAME", "ROLE", "STATE", "ADDED", "ID"), rows)))
    return Exit.OK


def _day(user: User) -> str:
    """When somebody added them; nobody did the person at the machine itself."""
    return "-" if user.id == LOCAL_USER else user.created_at[:10]


def _password(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    password = _read_new_password()
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(password=password)))
    return note(f"{user.name} has a new password, and must log in again.")


def _disable(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(disabled=True)))
    return note(f"{user.name} is disabled. All that is theirs is kept.")


def _enable(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    with_accounts(arguments, lambda accounts: accounts.change(user.id, UserChanges(disabled=False)))
    return note(f"{user.name} is enabled.")


def _remove(arguments: argparse.Namespace) -> int:
    user = _find_user(arguments)
    if not arguments.yes and not _confirm_removal(user):
        return note("Nothing was removed.")
    with_accounts(arguments, lambda accounts: accounts.remove(user.id))
    with suppress(ConfigError):  # of a storage that cannot be reached from here; the server sweeps it
        asyncio.run(_sweep(arguments))
    return note(f"Removed {user.name} with all that was theirs.")


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
    """Typed twice where somebody types, and never shown."""
    if not sys.stdin.isatty():
        return check_password(_read_first_line())
    password = check_password(getpass.getpass("New password: "))
    if getpass.getpass("The same again: ") != password:
        raise UsageError("These were two different passwords. Nothing was changed; try again.")
    return password


def _read_first_line() -> str:
    line = sys.stdin.buffer.readline(MAX_LINE_BYTES)
    try:
        return line.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise UsageError("The password on stdin is not UTF-8 text.") from None


def _confirm_removal(user: User) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("This cannot be undone. Where nobody can be asked, say --yes.")
    question = f"Remove {one_line(user.name)} with all sessions, files and tokens? This cannot be undone. [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def note(text: str) -> int:
    print(clean_line(text), file=sys.stderr)
    return Exit.OK


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with columns as wide as they need to be."""
    lines = [head, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        yield "  ".join(pad(cell, cells) for cell, cells in zip(line, widths, strict=True)).rstrip()


def format_json(value: Any) -> str:
    encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
    return (escape_json(encoded) if sys.stdout.isatty() else encoded).decode()
