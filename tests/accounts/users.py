"""Users for the tests, and a password hasher that is fast and counts its calls."""

from typing import Any

from argon2 import PasswordHasher

from footnote.accounts.accounts import Accounts
from footnote.protocol.accounts import Login, NewUser, Role, User

NOW = 1_800_000_000.0
PASSWORD = "correct horse battery"


class SettableClock:
    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> float:
        return self.time


class CountingHasher(PasswordHasher):
    """argon2 with its lowest cost parameters."""

    def __init__(self, **costs: Any) -> None:
        super().__init__(**({"time_cost": 1, "memory_cost": 8, "parallelism": 1} | costs))
        self.verified: list[str] = []
        self.hashed = 0

    def hash(self, *arguments: Any, **more: Any) -> str:
        self.hashed += 1
        return super().hash(*arguments, **more)

    def verify(self, hash: Any, password: Any) -> bool:  # noqa: A002 - as the one above it calls it
        self.verified.append(hash)
        return super().verify(hash, password)


async def add_user(accounts: Accounts, name: str = "Ann", role: Role = "user") -> User:
    return await accounts.add(NewUser(name, PASSWORD, role))


async def log_in(accounts: Accounts, name: str = "Ann", password: str = PASSWORD) -> str:
    _, secret = await accounts.log_in(Login(name=name, password=password))
    return secret
