"""Draws docs/images/ask.svg: a real `footnote ask` in a pseudo-terminal, with a scripted model.

    .venv/bin/python scripts/terminal_picture.py

The program, its output and its colours are real; the text of the model is in `SCENE`, and the home folder is a
temporary one. It needs pseudo-terminals: Linux and macOS.
"""

import asyncio
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import tempfile
import termios
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from upstream import Upstream, call, reply, say, stop  # noqa: E402 - found by the line above

TARGET = ROOT / "docs" / "images" / "ask.svg"
COLUMNS, ROWS = 92, 60
QUESTION = "Why do scholars use footnotes? Keep the answer as a note."
SCENE = (
    reply(
        call(
            "write_file", {"file_path": "/footnotes.md", "content": "# Why footnotes\n\nA claim should be checkable.\n"}
        ),
        stop("toolUse"),
    ),
    reply(
        say(
            "Three reasons, kept in **/footnotes.md**:\n\n",
            "1. **Proof.** A reader can check each claim against the passage it came from.\n",
            "2. **Credit.** The words and ideas of others stay theirs.\n",
            "3. **Flow.** The text can go on while the evidence waits below.\n",
        ),
        stop(),
    ),
)


class Screen:
    """The screen of a terminal: rows of styled characters, and the few control sequences that the output uses."""

    def __init__(self) -> None:
        self.rows: list[list[tuple[str, str]]] = [[]]
        self.row = 0
        self.column = 0
        self.style = ""

    def feed(self, output: str) -> None:
        pieces = re.split(r"(\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\))", output)
        for piece in pieces:
            if piece.startswith("\x1b["):
                self._control(piece[2:-1], piece[-1])
            elif not piece.startswith("\x1b]"):
                for character in piece:
                    self._put(character)

    def _control(self, argument: str, letter: str) -> None:
        number = int(argument) if argument.isdigit() else 1
        match letter:
            case "m":
                self.style = "" if argument in ("", "0") else self.style + f"\x1b[{argument}m"
            case "A":
                self.row = max(0, self.row - number)
            case "B":
                self._move_down(number)
            case "K" if argument == "2":
                self.rows[self.row] = []
            case "K":
                del self.rows[self.row][self.column :]
            case "J":
                del self.rows[self.row + 1 :]
                del self.rows[self.row][self.column :]
            case "G":
                self.column = number - 1
            case _:
                pass

    def _put(self, character: str) -> None:
        if character == "\n":
            self._move_down(1)
        elif character == "\r":
            self.column = 0
        elif character.isprintable():
            row = self.rows[self.row]
            row += [("", " ")] * (self.column + 1 - len(row))
            row[self.column] = (self.style, character)
            self.column += 1

    def _move_down(self, number: int) -> None:
        self.row += number
        self.rows += [[] for _ in range(self.row + 1 - len(self.rows))]

    def lines(self) -> list[str]:
        """The rows as text with their styles, without empty ones at the end."""
        lines = [_styled(row) for row in self.rows]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def _styled(row: list[tuple[str, str]]) -> str:
    runs = [(style, "".join(character for _, character in run)) for style, run in groupby(row, key=itemgetter(0))]
    return "".join(f"{style}{text}\x1b[0m" for style, text in runs) if any(text.strip() for _, text in runs) else ""


async def run_in_terminal(command: list[str], environment: dict[str, str]) -> list[str]:
    """Runs `command` in a terminal, and returns the screen at its end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    output = await asyncio.to_thread(_read_all, ours)
    if await process.wait() != 0:
        raise SystemExit(output.decode(errors="replace"))
    screen = Screen()
    screen.feed(output.decode())
    return screen.lines()


def _read_all(terminal: int) -> bytes:
    output = b""
    try:
        while chunk := os.read(terminal, 65_536):
            output += chunk
    except OSError:
        pass  # Linux reports in this way that the last process has left the terminal.
    finally:
        os.close(terminal)
    return output


def render_svg(lines: list[str]) -> str:
    """The lines as SVG without external fonts, so that readers of the page send no request to a font server."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap=True)
    svg = console.export_svg(title="footnote", theme=MONOKAI, unique_id="ask")
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    return re.sub(r"\s*@font-face \{[^}]*\}", "", svg)


def configure(home: Path, upstream: Upstream) -> None:
    """A home folder whose default model is the scripted one."""
    provider = {"type": "openai", "apiKey": upstream.key, "baseUrl": upstream.url}
    models = {"default": "local/scripted", "providers": {"local": provider}}
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"models": models}))


async def record_scene() -> list[str]:
    with tempfile.TemporaryDirectory() as person:
        async with Upstream() as upstream:
            upstream.script(*SCENE)
            configure(Path(person, ".footnote"), upstream)
            command = [str(ROOT / ".venv/bin/footnote"), "ask", QUESTION]
            terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            lines = await run_in_terminal(command, {"HOME": person, **terminal})
    return [line.replace(person, "/home/you") for line in lines]


if __name__ == "__main__":
    prompt = f'\x1b[1;32m$\x1b[0m footnote ask "{QUESTION}"'
    TARGET.write_text(render_svg([prompt, *asyncio.run(record_scene())]), encoding="utf-8")
