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
from footnote.cli.document_checks import converter_works, fonts_are_there, storage_can_be_used
from footnote.cli.findings import Check, Examined, Finding
from footnote.cli.keeping_checks import bus_answers, database_opens
from footnote.cli.search_checks import network_is_there, pages_can_be_read, search_is_ready
from footnote.cli.terminal.clean import clean_line
from footnote.config.configuration import Configuration, entries
from footnote.config.environment import process_environment
from footnote.config.kinds import masked_address
from footnote.config.load import home_folder, load
from footnote.config.problems import InvalidConfiguration, Problem
from footnote.config.providers import usual_key_variables
from footnote.config.resolve import ModelChoice, ollama_url, resolve_model, resolve_server
from footnote.models.base import ApiType, Endpoint
from footnote.models.catalog import list_models
from footnote.net.client import ConnectionFailed, Net
from footnote.net.proxies import Proxies
from footnote.protocol.errors import ConfigError, FootnoteError, UpstreamError
from footnote.tools.mcp import probe

LEAST_DISK_BYTES = 100 * 1024**2
GOOD_DISK_BYTES = 1024**3


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
    return asyncio.run(_examine(configuration, problems, as_json=arguments.json))


async def _examine(configuration: Configuration, problems: tuple[Problem, ...], *, as_json: bool) -> int:
    findings: list[Finding] = []
    async with Net(Proxies.of(process_environment())) as net:
        examined = Examined(configuration, problems, net)
        for checks in (BASIC_CHECKS + KEEPING_CHECKS,) if problems else (BASIC_CHECKS + CHECKS, LAST_CHECKS):
            async for finding in _found(checks, examined):
                findings.append(finding)
                if not as_json:
                    print(_line(finding), flush=True)
    failed = any(finding.status == "FAIL" for finding in findings)
    if as_json:
        report = msgspec.json.encode({"ok": not failed, "findings": findings})
        print(msgspec.json.format(report, indent=2).decode())
    return Exit.FAILURE if failed else Exit.OK


async def _found(checks: Sequence[Check], examined: Examined) -> AsyncIterator[Finding]:
    """What the checks find, in their order, although they run at the same time."""
    tasks = [asyncio.create_task(_all(check(examined))) for check in checks]
    try:
        for task in tasks:
            for finding in await task:
                yield finding
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _all(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


def _line(finding: Finding) -> str:
    line = clean_line(f"{finding.status:<5} {finding.check}: {finding.message}")
    return f"{line}\n      -> {clean_line(finding.remedy)}" if finding.remedy else line


async def configuration_is_valid(examined: Examined) -> AsyncIterator[Finding]:
    for problem in examined.problems:
        yield Finding("configuration", "FAIL", str(problem), "Correct this, then run `footnote doctor` again.")
    for one in examined.configuration.ignored:
        message = f"{one.variable} is set, but {one.place} in {one.file} wins over it."
        yield Finding("configuration", "WARN", message, "Remove one of the two.")
    if examined.problems:
        unchecked = (
            "keys, models, search, network, documents and tool servers were not checked; "
            "database and storage were, as they are without settings"
        )
        yield Finding("configuration", "WARN", unchecked, "Correct the problems above first.")
        return
    origins = examined.configuration.origins.values()
    names = sorted({origin.name for origin in origins if origin.kind == "file"})
    where = " and ".join(names) or "no file; defaults and environment"
    yield Finding("configuration", "OK", f"valid ({where})")


async def home_is_writable(examined: Examined) -> AsyncIterator[Finding]:
    home = examined.configuration.home
    folder = next(path for path in (home, *home.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "Give yourself write access to it, or set FOOTNOTE_HOME to another folder."
        yield Finding("home", "FAIL", f"{folder} cannot be written to ({error.strerror})", remedy)
        return
    yield Finding("home", "OK", f"{home} is writable" if folder == home else f"{home} can be made when needed")
    free = shutil.disk_usage(folder).free
    status = "OK" if free >= GOOD_DISK_BYTES else "WARN" if free >= LEAST_DISK_BYTES else "FAIL"
    remedy = "" if status == "OK" else "Free some space, or set FOOTNOTE_HOME to a folder on another disk."
    yield Finding("disk", status, f"{free / 1024**3:.1f} GiB free in {folder}", remedy)


EXTRAS = (
    ("rich", "terminal", "formatted answers"),
    ("pypdfium2", "documents", "PDF pages"),
    ("python_calamine", "documents", "spreadsheets"),
    ("typst", "convert", "PDF and Word documents"),
    ("mcp", "mcp", "MCP tool servers"),
)


async def extras_are_installed(_: Examined) -> AsyncIterator[Finding]:
    for package, extra, purpose in EXTRAS:
        if find_spec(package):
            yield Finding("extras", "OK", f"{package} is installed ({purpose})")
        else:
            remedy = f'pip install "footnote[{extra}]"'
            yield Finding("extras", "WARN", f"{package} is not installed; it is needed for {purpose}", remedy)


async def keys_are_present(examined: Examined) -> AsyncIterator[Finding]:
    keys = [entry for entry in entries(examined.configuration) if entry.key.endswith(".apiKey") and entry.value]
    for entry in keys:
        yield Finding("keys", "OK", f"{entry.key} is set ({entry.origin})")
    if not keys:
        names = ", ".join(usual_key_variables().values())
        yield Finding("keys", "OK", f"none is set (known: {names})")
    for file in sorted({entry.origin.name for entry in keys if entry.origin.kind == "file"}):
        if _is_open_to_others(Path(file)):
            yield Finding("keys", "WARN", f"others on this machine can read {file}", f"chmod 600 {file}")


def _is_open_to_others(file: Path) -> bool:
    return os.name == "posix" and bool(file.stat().st_mode & 0o077)


async def models_answer(examined: Examined) -> AsyncIterator[Finding]:
    settings = examined.configuration.settings
    listed = await _listed(examined.net, "openai", Endpoint("ollama", ollama_url(settings)))
    yield _ollama_finding(listed, masked_address(ollama_url(settings)))
    names = None if isinstance(listed, UpstreamError) else listed
    wanted = dict.fromkeys([None, *(agent.model for agent in examined.configuration.agents)])
    for finding in await asyncio.gather(*(_wanted_model(examined, model, names) for model in wanted)):
        yield finding


async def _wanted_model(examined: Examined, model: str | None, ollama_models: list[str] | None) -> Finding:
    try:
        choice = resolve_model(examined.configuration.settings, model, ollama_models)
    except ConfigError as error:
        return Finding("model", "FAIL", error.message, "Do that, or choose another model.")
    return await _model_finding(examined, choice)


def _ollama_finding(listed: list[str] | UpstreamError, address: str) -> Finding:
    match listed:
        case ConnectionFailed():
            return Finding("ollama", "OK", f"not running at {address}, and not needed if there is a key")
        case UpstreamError():
            message = f"what runs at {address} {listed.message}"
            return Finding("ollama", "WARN", message, "Check models.providers.ollama.baseUrl.")
        case []:
            return Finding("ollama", "WARN", "running, but it has no model", "ollama pull qwen3")
        case _:
            return Finding("ollama", "OK", f"running, with {_some(listed)}")


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


async def _model_finding(examined: Examined, choice: ModelChoice) -> Finding:
    about = f"{choice.id} ({choice.origin})"
    if choice.type == "reader":
        ways = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
        return Finding("model", "OK", f"{about}: answers quote pages; for answers that reason, {ways}")
    listed = await _listed(examined.net, choice.type, choice.endpoint)
    if choice.provider != "ollama":  # which is on this machine, most of the time
        examined.reached[choice.provider] = not isinstance(listed, ConnectionFailed)
    setting = f"models.providers.{choice.provider}"
    match listed:
        case ConnectionFailed():
            remedy = f"Check the network, and that it runs where {setting}.baseUrl says."
            return Finding("model", "FAIL", f"{about}: {listed.message}", remedy)
        case UpstreamError(status=401 | 403):
            key = choice.endpoint.key_name or f"{setting}.apiKey"
            return Finding("model", "FAIL", f"{about}: the key was refused", f"Check {key}.")
        case UpstreamError():
            message = f"{about}: asked for its models, the server {listed.message}"
            return Finding("model", "WARN", message, f"If questions fail too, check {setting}.baseUrl.")
        case _ if listed and not any(name.partition(":")[0] == choice.model or name == choice.model for name in listed):
            message = f"{about}: the server answers, but does not list this model"
            return Finding("model", "WARN", message, f"Choose one that it lists: {_some(listed)}")
        case _:
            return Finding("model", "OK", f"{about}: the server answers")


async def _listed(net: Net, api: ApiType, endpoint: Endpoint) -> list[str] | UpstreamError:
    try:
        return await list_models(api, endpoint, net)
    except UpstreamError as error:
        return error


async def tool_servers_answer(examined: Examined) -> AsyncIterator[Finding]:
    configuration = examined.configuration
    servers = [(agent, name, server) for agent in configuration.agents for name, server in agent.mcp_servers.items()]
    if servers and not find_spec("mcp"):
        message = f"{len(servers)} in agents.json cannot be used: the mcp package is not installed"
        yield Finding("tool server", "WARN", message, 'pip install "footnote[mcp]"')
        return
    for agent, name, server in servers:
        about = f"{name} of agent {agent.id}"
        try:
            tools = await probe(resolve_server(name, server, configuration.home, process_environment()))
        except FootnoteError as error:
            remedy = f"Check its entry in mcpServers of agent {agent.id}."
            yield Finding("tool server", "FAIL", f"{about}: {error.message}", remedy)
        else:
            yield Finding("tool server", "OK", f"{about} offers {', '.join(tools) or 'no tools'}")


BASIC_CHECKS: tuple[Check, ...] = (configuration_is_valid, home_is_writable, extras_are_installed)
KEEPING_CHECKS: tuple[Check, ...] = (database_opens, storage_can_be_used)
CHECKS: tuple[Check, ...] = (
    keys_are_present,
    models_answer,
    search_is_ready,
    pages_can_be_read,
    fonts_are_there,
    converter_works,
    *KEEPING_CHECKS,
    bus_answers,
    tool_servers_answer,
)
LAST_CHECKS: tuple[Check, ...] = (network_is_there,)
