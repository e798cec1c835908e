"""`footnote doctor`: checks the set-up and says what to do about each problem.

A check is an async generator of results. To add one, write a function and add it to `CHECKS`, or to `BASIC_CHECKS` if
it also makes sense when the configuration is invalid. All checks run concurrently, so that the whole takes as long as
the slowest; only `check_network` runs last, because it judges by the requests of the others.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from footnote.cli import Exit
from footnote.cli.local_checks import (
    Check,
    CheckContext,
    CheckResult,
    check_bus,
    check_configuration,
    check_converter,
    check_database,
    check_extras,
    check_fonts,
    check_home,
    check_page_reading,
    check_storage,
)
from footnote.cli.model_checks import check_keys, check_models, check_second_look
from footnote.cli.provider_checks import check_network, check_search, check_tool_servers
from footnote.cli.terminal.clean import clean_line
from footnote.config.environment import process_environment
from footnote.config.load import Configuration, home_folder, load
from footnote.config.validation import InvalidConfiguration, Problem
from footnote.net.client import Net
from footnote.net.proxies import Proxies

BASIC_CHECKS: tuple[Check, ...] = (check_configuration, check_home, check_extras)
STORE_CHECKS: tuple[Check, ...] = (check_database, check_storage)
CHECKS: tuple[Check, ...] = (
    check_keys,
    check_models,
    check_second_look,
    check_search,
    check_page_reading,
    check_fonts,
    check_converter,
    *STORE_CHECKS,
    check_bus,
    check_tool_servers,
)
LAST_CHECKS: tuple[Check, ...] = (check_network,)


def register(subparsers: Any) -> None:
    doctor = subparsers.add_parser("doctor", help="check the set-up and say what to do about each problem")
    doctor.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    doctor.add_argument(
        "--no-question", action="store_true", help="do not ask the model a question, which may cost money"
    )
    doctor.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    home, problems = arguments.home, ()
    try:
        configuration = load(home, arguments.config_file)
    except InvalidConfiguration as error:
        problems = error.problems
        configuration = Configuration(home.expanduser().absolute() if home else home_folder())
    asks_models = not arguments.no_question
    return asyncio.run(_diagnose(configuration, problems, as_json=arguments.json, asks_models=asks_models))


async def _diagnose(
    configuration: Configuration, problems: tuple[Problem, ...], *, as_json: bool, asks_models: bool
) -> int:
    results: list[CheckResult] = []
    async with Net(Proxies.from_environment(process_environment())) as net:
        context = CheckContext(configuration, problems, net, asks_models=asks_models)
        for checks in (BASIC_CHECKS + STORE_CHECKS,) if problems else (BASIC_CHECKS + CHECKS, LAST_CHECKS):
            async for result in _run_checks(checks, context):
                results.append(result)
                if not as_json:
                    print(_format_result(result), flush=True)
    failed = any(result.status == "FAIL" for result in results)
    if as_json:
        report = msgspec.json.encode({"ok": not failed, "findings": results})
        print(msgspec.json.format(report, indent=2).decode())
    return Exit.FAILURE if failed else Exit.OK


async def _run_checks(checks: Sequence[Check], context: CheckContext) -> AsyncIterator[CheckResult]:
    """The results in the order of the checks, which run concurrently."""
    tasks = [asyncio.create_task(_collect(check(context))) for check in checks]
    try:
        for task in tasks:
            for result in await task:
                yield result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _collect(results: AsyncIterator[CheckResult]) -> list[CheckResult]:
    return [result async for result in results]


def _format_result(result: CheckResult) -> str:
    line = clean_line(f"{result.status:<5} {result.check}: {result.message}")
    return f"{line}\n      -> {clean_line(result.remedy)}" if result.remedy else line
