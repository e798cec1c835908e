"""`footnote tokens`: tokens for programs. Works on the database itself, whether a server runs or not."""

import argparse
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from footnote.accounts.accounts import Accounts
from footnote.cli import Exit
from footnote.cli.output import format_json, print_note
from footnote.cli.terminal.lines import format_table, one_line
from footnote.cli.users import with_accounts
from footnote.protocol.accounts import LOCAL_USER, NewToken
from footnote.protocol.errors import UsageError

MAX_DAYS = 3650
T = TypeVar("T")


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("tokens", help="tokens for programs that use the server: add, list, remove")
    actions = parser.add_subparsers(metavar="ACTION", required=True, title="actions")

    add = actions.add_parser(
        "add",
        help="create a token and print it once",
        description="Prints the token alone to stdout. Only a hash of it is stored, so it cannot be shown again.",
    )
    add.add_argument("name", metavar="NAME", help="what it is for")
    add.add_argument("--days", type=int, metavar="N", help="expires after N days (default: never)")
    add.set_defaults(run=_add)

    listing = actions.add_parser("list", help="the tokens of a user, the newest first")
    listing.add_argument("--json", action="store_true", help="print one JSON array instead of a table")
    listing.set_defaults(run=_list)

    remove = actions.add_parser("remove", help="remove a token; it stops working at once")
    remove.add_argument("id", metavar="ID", help="as `footnote tokens list` shows it")
    remove.set_defaults(run=_remove)
    for action in (add, listing, remove):
        action.add_argument(
            "--user", metavar="USER", default=LOCAL_USER, help="the user it belongs to (default: the local user)"
        )


def _add(arguments: argparse.Namespace) -> int:
    if arguments.days is not None and not 1 <= arguments.days <= MAX_DAYS:
        raise UsageError(f"--days must be 1 to {MAX_DAYS:,}.")
    new = NewToken(arguments.name, arguments.days)
    issued = _run_for_user(arguments, lambda accounts, user_id: accounts.issue(user_id, new))
    print(issued.token, flush=True)
    print_note(
        "Keep it like a password: it is not shown again. Programs send it as `Authorization: Bearer TOKEN`. "
        f"Remove it with: footnote tokens remove {issued.id}"
    )
    return Exit.OK


def _list(arguments: argparse.Namespace) -> int:
    tokens = _run_for_user(arguments, lambda accounts, user_id: accounts.tokens(user_id))
    if arguments.json:
        print(format_json(tokens))
        return Exit.OK
    rows = [
        (
            one_line(token.name),
            token.created_at[:10],
            (token.used_at or "never")[:10],
            (token.expires_at or "-")[:10],
            token.id,
        )
        for token in tokens
    ]
    print("\n".join(format_table(("NAME", "ADDED", "USED", "ENDS", "ID"), rows)))
    return Exit.OK


def _remove(arguments: argparse.Namespace) -> int:
    _run_for_user(arguments, lambda accounts, user_id: accounts.revoke(user_id, arguments.id))
    print_note("Removed. The token no longer works.")
    return Exit.OK


def _run_for_user(arguments: argparse.Namespace, work: Callable[[Accounts, str], Awaitable[T]]) -> T:
    async def with_user(accounts: Accounts) -> T:
        return await work(accounts, (await accounts.user_by_name(arguments.user)).id)

    return with_accounts(arguments, with_user)
