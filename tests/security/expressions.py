"""Finds regular expressions whose cost grows faster than the text. It is run as a program, because an expression that
hangs can only be killed from outside, and writes a JSON list of `[module, name, pattern, method, attack, ratio]`.

Every expression of the package is applied to long runs of its own characters. A backtracking matcher is slow where a
loop can be left or entered at many positions and what follows fails each time; so a text consists of a prefix that
leads to a loop, a long run that the loop (or its prefix) matches, and a character that makes the match fail.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from attacks import attacks

SMALL, LARGE = 2_000, 32_000
"""Lengths of the runs. Sixteen times the text costs sixteen times as much if the cost is linear, 256 times if it is
quadratic."""
MAX_RATIO = 60
NEGLIGIBLE_SECONDS = 0.002
"""CPU seconds for a run of `MIDDLE`: an expression below it cannot be quadratic, which would take ten times as long."""
MIDDLE = 2_000
MAX_SECONDS = 4.0
"""CPU seconds for a single text. A linear expression needs some milliseconds."""
SCANNING = ("search", "finditer", "findall", "sub", "subn", "split")
METHODS = (*SCANNING, "match", "fullmatch")


class Expression(NamedTuple):
    module: str
    name: str
    pattern: "re.Pattern[str] | re.Pattern[bytes]"
    methods: frozenset[str]


# What there is ----------------------------------------------------------------------------------------------

_Used = dict[tuple[str, str], set[str]]
"""The methods called on a name in a module."""
LOCAL = "*"
"""Stands for all local names of a module: arguments, loop variables."""


def find_expressions(package: str) -> Iterator[Expression]:
    """All expressions: module-level ones, also inside of values, and those that functions compile."""
    recorder = _Recorder(package)
    modules = list(_modules(package))
    recorder.is_on = True
    _warm_reader_patterns()
    trees = {module.__name__: ast.parse(inspect.getsource(module)) for module in modules}
    used = _methods_by_name(trees)
    seen: set[tuple[Any, int, frozenset[str]]] = set()
    for module in modules:
        for expression in (
            *_module_patterns(module, used),
            *_inline_patterns(module, trees[module.__name__]),
            *recorder.of(module, used),
        ):
            key = expression.pattern.pattern, expression.pattern.flags, expression.methods
            if key not in seen:
                seen.add(key)
                yield expression


def _modules(package: str) -> Iterator[Any]:
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


class _Recorder:
    """Records expressions that functions of the package compile from tables, with the name of the function."""

    def __init__(self, package: str) -> None:
        self.is_on = False
        self._made: list[tuple[str, str, Any]] = []
        compiled = re.compile

        def recording_compile(pattern: Any, flags: Any = 0) -> Any:
            pattern_object = compiled(pattern, flags)
            caller = sys._getframe(1)
            while caller.f_code.co_name.startswith("<") and caller.f_back:  # a comprehension
                caller = caller.f_back
            module = caller.f_globals.get("__name__", "")
            if self.is_on and module.split(".")[0] == package:
                self._made.append((module, caller.f_code.co_name, pattern_object))
            return pattern_object

        re.compile = recording_compile

    def of(self, module: Any, used: _Used) -> Iterator[Expression]:
        for name, function, pattern in self._made:
            if name == module.__name__:
                methods = used.get((name, function)) or used.get(("", function)) or used.get((name, LOCAL), set())
                yield Expression(name, function, pattern, frozenset(methods) or frozenset(SCANNING[:2]))


def _warm_reader_patterns() -> None:
    """The reader compiles its tables of phrases on first use."""
    from footnote.models.reader import question  # noqa: PLC0415 - after the recorder is in place

    texts = ("hello, what is the GDP of Korea today, please?", "viết báo cáo về Hà Nội", "写一份关于茶的报告", "2 + 2")
    for text in texts:
        parsed = question.parse_message(text)
        list(question.build_searches(parsed.parts or (text,), question.Subject("tea in China", ("Tea | A site",))))
        question.has_topic(text)
    list(
        question.build_searches(
            ("and in Vietnam?", "its population", "summarise it", "它多大"), question.Subject("Korea")
        )
    )


def _module_patterns(module: Any, used: _Used) -> Iterator[Expression]:
    own = (None, "builtins", "re", module.__name__)
    for name, value in vars(module).items():
        if name.startswith("__") or inspect.ismodule(value) or getattr(value, "__module__", None) not in own:
            continue
        key = (module.__name__ if name.startswith("_") else "", name)
        methods = used.get(key) or used.get((module.__name__, LOCAL), set())
        for pattern in _patterns(value, set()):
            yield Expression(module.__name__, name, pattern, frozenset(methods) or frozenset(SCANNING[:2]))


def _patterns(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, re.Pattern):
        yield value
        return
    if id(value) in seen or isinstance(value, (str, bytes, int, float)):
        return
    seen.add(id(value))
    inside: Iterable[Any] = ()
    if isinstance(value, dict):
        inside = (*value, *value.values())
    elif isinstance(value, (tuple, list, set, frozenset)):
        inside = tuple(value)
    elif inspect.isclass(value) or (type(value).__module__ or "").startswith("footnote"):
        fields = () if inspect.isclass(value) else getattr(value, "__struct_fields__", ())
        names = [*getattr(value, "__dict__", {}), *fields]
        inside = [getattr(value, name, None) for name in names if not name.startswith("__")]
    for each in inside:
        yield from _patterns(each, seen)


def _methods_by_name(trees: dict[str, ast.Module]) -> _Used:
    """`_WORD.search(…)`, `map(_WORD.sub, …)`, `(_A if … else _B).match(…)`, `beginning(…).match(…)`. A name without an
    underscore may be used by other modules."""
    used: _Used = {}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                for name in _names(node.value):
                    places = [(module if name.startswith("_") else "", name)]
                    is_local = isinstance(node.value, ast.Name) and name.islower() and not name.startswith("_")
                    places += [(module, LOCAL)] if is_local and node.attr != "split" else []
                    for place in places:
                        used.setdefault(place, set()).add(node.attr)
    return used


def _names(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(name) if name != "re":
            return [name]
        case ast.Attribute(_, name):
            return [name]
        case ast.Call(function) | ast.Subscript(function):
            return _names(function)
        case ast.IfExp(_, one, other):
            return _names(one) + _names(other)
        case _:
            return []


def _inline_patterns(module: Any, tree: ast.Module) -> Iterator[Expression]:
    """`re.sub("…", …)` inside of functions, where the pattern can be evaluated."""
    functions = (
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )
    for node in (inner for function in functions for inner in ast.walk(function)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), method), [text, *rest]) if method in METHODS:
                named = [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
                flags = named or rest[{"sub": 3, "subn": 3, "split": 2}.get(method, 1) :]
                try:
                    pattern = re.compile(_value(text, module), _value(flags[0], module) if flags else 0)
                except Exception:  # noqa: BLE001 - made of what only the function knows
                    continue
                yield Expression(module.__name__, f"line {node.lineno}", pattern, frozenset({method}))
            case _:
                pass


def _value(node: ast.expr, module: Any) -> Any:
    code = compile(ast.Expression(node), module.__name__, "eval")
    return eval(code, vars(module))


# What it costs ----------------------------------------------------------------------------------------------


class _TooLong(Exception):
    pass


def _stop(*_: object) -> None:
    raise _TooLong


def _cost(use: Callable[[Any], object], text: Any) -> float:
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    began = time.thread_time()
    try:
        use(text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - began


def _uses(expression: Expression) -> list[tuple[str, Callable[[Any], object]]]:
    pattern = expression.pattern
    uses: list[tuple[str, Callable[[Any], object]]] = []
    if expression.methods & {"finditer", "findall", "sub", "subn", "split"}:
        uses.append(("finditer", lambda text: sum(1 for _ in pattern.finditer(text))))
    elif "search" in expression.methods:
        uses.append(("search", pattern.search))
    if "match" in expression.methods:
        uses.append(("match", pattern.match))
    if "fullmatch" in expression.methods:
        uses.append(("fullmatch", pattern.fullmatch))
    return uses


def find_slow_text(expression: Expression) -> list[Any] | None:
    """The first text over which an expression is slow, if there is one."""
    is_bytes = isinstance(expression.pattern.pattern, bytes)
    for attack in attacks(expression.pattern):
        for method, use in _uses(expression):
            ratio = _ratio(use, lambda length, attack=attack: attack.of(length, is_bytes=is_bytes))
            if ratio > MAX_RATIO:
                pattern = str(expression.pattern.pattern)
                return [expression.module, expression.name, pattern[:2000], method, attack, round(ratio)]
    return None


def _ratio(use: Callable[[Any], object], make_text: Callable[[int], Any]) -> float:
    """How many times the cost of a short text a long one has. 0: the cost is negligible."""
    try:
        if _cost(use, make_text(MIDDLE)) < NEGLIGIBLE_SECONDS:
            return 0
        short = min(_cost(use, make_text(SMALL)) for _ in range(5))
        return min(_cost(use, make_text(LARGE)) for _ in range(2)) / max(short, 1e-6)
    except _TooLong:
        return 1e9


def main() -> None:
    signal.signal(signal.SIGVTALRM, _stop)
    every = sorted(find_expressions("footnote"), key=lambda expression: (expression.module, expression.name))
    part, parts = int(sys.argv[1]), int(sys.argv[2])
    found = [find_slow_text(expression) for expression in every[part::parts]]
    names = [f"{expression.module}.{expression.name}" for expression in every[part::parts]]
    json.dump({"looked_at": names, "slow": [each for each in found if each]}, sys.stdout)


if __name__ == "__main__":
    main()
