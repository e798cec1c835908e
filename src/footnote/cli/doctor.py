"""`footnote doctor`: checks the set-up and says what to do about each problem.

A check is an async generator of findings. A new one is a function in `CHECKS`, or in `BASIC_CHECKS` if it also
makes sense when the configuration cannot be used. All of them run side by side, so that the whole takes as long as the
slowest; only `network_is_there` goes by what the others met with.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from footnote.cli import Exit
from footnote.cli.document_checks import check_converter, check_fonts, check_storage
from footnote.cli.findings import Check, CheckContext, CheckResult
from footnote.cli.keeping_checks import check_bus, check_database
from footnote.cli.search_checks import check_network, check_page_reading, check_search
from footnote.cli.terminal.clean import clean_line
from footnote.config.configuration import Configuration, entries
from footnote.config.environment import process_environment
from footnote.config.formats import mask_url
from footnote.config.load import home_folder, load
from footnote.config.providers import standard_key_variables
from footnote.config.resolve import ModelChoice, ollama_url, resolve_model, resolve_server
from footnote.config.validation import InvalidConfiguration, Problem
from footnote.models.base import ApiType, Endpoint
from footnote.models.catalog import list_models
from footnote.net.client import ConnectionFailed, Net
from footnote.net.proxies import Proxies
from footnote.protocol.errors import ConfigError, FootnoteError, UpstreamError
from footnote.tools.mcp import probe

MIN_DISK_BYTES = 100 * 1024**2
RECOMMENDED_DISK_BYTES = 1024**3


def register(subparsers: Any) -> None:
    doctor = subparsers.add_parser("doctor", help="check the set-up and say what to do about each problem")
    doctor.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    doctor.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    home, problems = arguments.home, ()
    try:
        configuration = load(home, arguments.config_file)
    except InvalidConfiguration as error:
        problems = error.problems
        configuration = Configuration(home.expanduser().absolute() if home else home_folder())
    return asyncio.run(_diagnose(configuration, problems, as_json=arguments.json))


async def _diagnose(configuration: Configuration, problems: tuple[Problem, ...], *, as_json: bool) -> int:
    findings: list[CheckResult] = []
    async with Net(Proxies.from_environment(process_environment())) as net:
        examined = CheckContext(configuration, problems, net)
        for checks in (BASIC_CHECKS + STORE_CHECKS,) if problems else (BASIC_CHECKS + CHECKS, LAST_CHECKS):
            async for finding in _run_checks(checks, examined):
                findings.append(finding)
                if not as_json:
                    print(_format_result(finding), flush=True)
    failed = any(finding.status == "FAIL" for finding in findings)
    if as_json:
        report = msgspec.json.encode({"ok": not failed, "findings": findings})
        print(msgspec.json.format(report, indent=2).decode())
    return Exit.FAILURE if failed else Exit.OK


async def _run_checks(checks: Sequence[Check], context: CheckContext) -> AsyncIterator[CheckResult]:
    """What the checks find, in their order, although they run at the same time."""
    tasks = [asyncio.create_task(_all(check(context))) for check in checks]
    try:
        for task in tasks:
            for finding in await task:
                yield finding
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _all(findings: AsyncIterator[CheckResult]) -> list[CheckResult]:
    return [finding async for finding in findings]


def _format_result(finding: CheckResult) -> str:
    line = clean_line(f"{finding.status:<5} {finding.check}: {finding.message}")
    return f"{line}\n      -> {clean_line(finding.remedy)}" if finding.remedy else line


async def check_configuration(context: CheckContext) -> AsyncIterator[CheckResult]:
    for problem in context.problems:
        yield CheckResult("configuration", "FAIL", str(problem), "Correct this, then run `footnote doctor` again.")
    for one in context.configuration.ignored:
        message = f"{one.variable} is set, but {one.place} in {one.file} wins over it."
        yield CheckResult("configuration", "WARN", message, "Remove one of the two.")
    if context.problems:
        unchecked = (
            "keys, models, search, network, documents and tool servers were not checked; "
            "database and storage were, as they are without settings"
        )
        yield CheckResult("configuration", "WARN", unchecked, "Correct the problems above first.")
        return
    origins = context.configuration.origins.values()
    names = sorted({origin.name for origin in origins if origin.kind == "file"})
    where = " and ".join(names) or "no file; defaults and environment"
    yield CheckResult("configuration", "OK", f"valid ({where})")


async def check_home(context: CheckContext) -> AsyncIterator[CheckResult]:
    home = context.configuration.home
    folder = next(path for path in (home, *home.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "Give yourself write access to it, or set FOOTNOTE_HOME to another folder."
        yield CheckResult("home", "FAIL", f"{folder} cannot be written to ({error.strerror})", remedy)
        return
    yield CheckResult("home", "OK", f"{home} is writable" if folder == home else f"{home} can be made when needed")
    free = shutil.disk_usage(folder).free
    status = "OK" if free >= RECOMMENDED_DISK_BYTES else "WARN" if free >= MIN_DISK_BYTES else "FAIL"
    remedy = "" if status == "OK" else "Free some space, or set FOOTNOTE_HOME to a folder on another disk."
    yield CheckResult("disk", status, f"{free / 1024**3:.1f} GiB free in {folder}", remedy)


EXTRAS = (
    ("rich", "terminal", "formatted answers"),
    ("pypdfium2", "documents", "PDF pages"),
    ("python_calamine", "documents", "spreadsheets"),
    ("typst", "convert", "PDF and Word documents"),
    ("mcp", "mcp", "MCP tool servers"),
)


async def check_extras(_: CheckContext) -> AsyncIterator[CheckResult]:
    for package, extra, purpose in EXTRAS:
        if find_spec(package):
            yield CheckResult("extras", "OK", f"{package} is installed ({purpose})")
        else:
            remedy = f'pip install "footnote[{extra}]"'
            yield CheckResult("extras", "WARN", f"{package} is not installed; it is needed for {purpose}", remedy)


async def check_keys(context: CheckContext) -> AsyncIterator[CheckResult]:
    keys = [entry for entry in entries(context.configuration) if entry.key.endswith(".apiKey") and entry.value]
    for entry in keys:
        yield CheckResult("keys", "OK", f"{entry.key} is set ({entry.origin})")
    if not keys:
        names = ", ".join(standard_key_variables().values())
        yield CheckResult("keys", "OK", f"none is set (known: {names})")
    for file in sorted({entry.origin.name for entry in keys if entry.origin.kind == "file"}):
        if _is_readable_by_others(Path(file)):
            yield CheckResult("keys", "WARN", f"others on this machine can read {file}", f"chmod 600 {file}")


def _is_readable_by_others(file: Path) -> bool:
    return os.name == "posix" and bool(file.stat().st_mode & 0o077)


async def check_models(context: CheckContext) -> AsyncIterator[CheckResult]:
    settings = context.configuration.settings
    listed = await _list_models(context.net, "openai", Endpoint("ollama", ollama_url(settings)))
    yield _ollama_result(listed, mask_url(ollama_url(settings)))
    names = None if isinstance(listed, UpstreamError) else listed
    wanted = dict.fromkeys([None, *(agent.model for agent in context.configuration.agents)])
    for finding in await asyncio.gather(*(_check_model(context, model, names) for model in wanted)):
        yield finding


async def _check_model(context: CheckContext, model: str | None, ollama_models: list[str] | None) -> CheckResult:
    try:
        choice = resolve_model(context.configuration.settings, model, ollama_models)
    except ConfigError as error:
        return CheckResult("model", "FAIL", error.message, "Do that, or choose another model.")
    return await _model_result(context, choice)


def _ollama_result(models: list[str] | UpstreamError, address: str) -> CheckResult:
    match models:
        case ConnectionFailed():
            return CheckResult("ollama", "OK", f"not running at {address}, and not needed if there is a key")
        case UpstreamError():
            message = f"what runs at {address} {models.message}"
            return CheckResult("ollama", "WARN", message, "Check models.providers.ollama.baseUrl.")
        case []:
            return CheckResult("ollama", "WARN", "running, but it has no model", "ollama pull qwen3")
        case _:
            return CheckResult("ollama", "OK", f"running, with {_abbreviate(models)}")


def _abbreviate(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


async def _model_result(context: CheckContext, choice: ModelChoice) -> CheckResult:
    about = f"{choice.id} ({choice.origin})"
    if choice.type == "reader":
        ways = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
        return CheckResult("model", "OK", f"{about}: answers quote pages; for answers that reason, {ways}")
    listed = await _list_models(context.net, choice.type, choice.endpoint)
    if choice.provider != "ollama":  # which is on this machine, most of the time
        context.reachable[choice.provider] = not isinstance(listed, ConnectionFailed)
    setting = f"models.providers.{choice.provider}"
    match listed:
        case ConnectionFailed():
            remedy = f"Check the network, and that it runs where {setting}.baseUrl says."
            return CheckResult("model", "FAIL", f"{about}: {listed.message}", remedy)
        case UpstreamError(status=401 | 403):
            key = choice.endpoint.key_name or f"{setting}.apiKey"
            return CheckResult("model", "FAIL", f"{about}: the key was refused", f"Check {key}.")
        case UpstreamError():
            message = f"{about}: asked for its models, the server {listed.message}"
            return CheckResult("model", "WARN", message, f"If questions fail too, check {setting}.baseUrl.")
        case _ if listed and not any(name.partition(":")[0] == choice.model or name == choice.model for name in listed):
            message = f"{about}: the server answers, but does not list this model"
            return CheckResult("model", "WARN", message, f"Choose one that it lists: {_abbreviate(listed)}")
        case _:
            return CheckResult("model", "OK", f"{about}: the server answers")


async def _list_models(net: Net, api: ApiType, endpoint: Endpoint) -> list[str] | UpstreamError:
    try:
        return await list_models(api, endpoint, net)
    except UpstreamError as error:
        return error


async def check_tool_servers(context: CheckContext) -> AsyncIterator[CheckResult]:
    configuration = context.configuration
    servers = [(agent, name, server) for agent in configuration.agents for name, server in agent.mcp_servers.items()]
    if servers and not find_spec("mcp"):
        message = f"{len(servers)} in agents.json cannot be used: the mcp package is not installed"
        yield CheckResult("tool server", "WARN", message, 'pip install "footnote[mcp]"')
        return
    for agent, name, server in servers:
        about = f"{name} of agent {agent.id}"
        try:
            tools = await probe(resolve_server(name, server, configuration.home, process_environment()))
        except FootnoteError as error:
            remedy = f"Check its entry in mcpServers of agent {agent.id}."
            yield CheckResult("tool server", "FAIL", f"{about}: {error.message}", remedy)
        else:
            yield CheckResult("tool server", "OK", f"{about} offers {', '.join(tools) or 'no tools'}")


BASIC_CHECKS: tuple[Check, ...] = (check_configuration, check_home, check_extras)
STORE_CHECKS: tuple[Check, ...] = (check_database, check_storage)
CHECKS: tuple[Check, ...] = (
    check_keys,
    check_models,
    check_search,
    check_page_reading,
    check_fonts,
    check_converter,
    *STORE_CHECKS,
    check_bus,
    check_tool_servers,
)
LAST_CHECKS: tuple[Check, ...] = (check_network,)
